import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protobufV1_0 } from '../../packages/grpc/src/protobuf/v1_0.js';
import { GrpcStub } from '../client/stub-grpc.js';
import { parley, parleyJson } from './parley.js';
import { RecordingAgent, result } from './recording-agent.js';

const MESSAGE = { messageId: 'm1', role: 'ROLE_AGENT' as const, contextId: 'c1', parts: [{ text: 'over gRPC' }] };
const overJsonRpc = { message: { ...MESSAGE, parts: [{ text: 'over JSON-RPC' }] } };

let stub: GrpcStub;
let agent: RecordingAgent;
/** An agent whose only interface is gRPC. */
let alone: RecordingAgent;

beforeAll(async () => {
  stub = await GrpcStub.start({
    unary: ({ method }) => {
      if (method !== 'GetTask') return protobufV1_0.encode('sendMessage', { message: MESSAGE });
      throw Object.assign(new Error('Task not found'), { code: status.NOT_FOUND, details: 'Task not found' });
    },
  });
  const grpc = { url: stub.address, protocolBinding: 'GRPC', protocolVersion: '1.0' };
  agent = await RecordingAgent.start({
    card: (url) => ({
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }, grpc],
    }),
    answer: () => result(overJsonRpc),
  });
  alone = await RecordingAgent.start({ card: () => ({ supportedInterfaces: [grpc] }) });
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await alone[Symbol.asyncDispose]();
  await stub[Symbol.asyncDispose]();
});

const textOf = ({ message }: { readonly message: typeof MESSAGE }) => message.parts[0]?.text;

describe('gRPC on the command line', () => {
  it.each(['grpc', 'GRPC', 'gRPC'])('is not preferred, but selected by --transport %s', async (name) => {
    expect(textOf(await parleyJson(['send', 'x', '-a', agent.url, '--transport', name]))).toBe('over gRPC');
    expect(textOf(await parleyJson(['send', 'x', '-a', agent.url]))).toBe('over JSON-RPC');
  });

  it('is used without a flag if the agent has no other binding', async () => {
    expect(textOf(await parleyJson(['send', 'x', '-a', alone.url]))).toBe('over gRPC');
  });

  it('calls an address without a card', async () => {
    for (const endpoint of [stub.address, `http://${stub.address}`, stub.address.replace('127.0.0.1', 'localhost')]) {
      const args = ['send', 'x', '-e', endpoint, '--transport', 'grpc'];
      expect(textOf(await parleyJson(args))).toBe('over gRPC');
    }
  });

  it('shows errors with their code', async () => {
    const { code, stdout } = await parley(['task', 'get', 't1', '-a', alone.url, '-o', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'TaskNotFoundError', a2aCode: 'TASK_NOT_FOUND' });
  });

  it('names missing packages', async () => {
    const hooks = `import { registerHooks } from 'node:module';
      registerHooks({ resolve(name, context, next) {
        if (name === '@grpc/grpc-js') throw Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(name, context);
      } });`;
    const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(hooks)}"` };
    const { code, stderr } = await parley(['send', 'x', '-a', alone.url], { env });
    expect(stderr).toMatch(/A2ACLI_ERR_USAGE: gRPC needs packages that are not installed/);
    expect(stderr).toMatch(/hint: npm install --global @grpc\/grpc-js @bufbuild\/protobuf/);
    expect(code).toBe(2);
    // Other bindings need none of them.
    expect((await parley(['send', 'x', '-a', agent.url], { env })).code).toBe(0);
  });

  it('appears in a card that is valid', async () => {
    const { code, stdout, stderr } = await parley(['card', 'get', '-a', agent.url, '--validate']);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
    expect(stdout).toContain(`GRPC 1.0 ${stub.address}`);
  });
});
