import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Metadata, ServerCredentials, status } from '@grpc/grpc-js';
import { describe, expect, it, vi } from 'vitest';
import { type GrpcTransportOptions, grpcTransport } from '../../packages/grpc/src/index.js';
import { type ConnectOptions, connect, STREAM_RESUME_EXTENSION } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import { plantSecret } from '../../packages/parley/test/planted-secrets.js';
import { makeAuthority } from '../credentials/certificates.js';
import { freePort } from '../support/servers/free-port.js';
import { result, StubAgent } from './stub-agent.js';
import { eventBytes, GrpcStub, taskBytes } from './stub-grpc.js';

const TASK: Task = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } };
const WORKING = {
  statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' as const } },
};
const DONE = {
  statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' as const } },
};
const TOKEN = plantSecret('grpc-token');

function over(options: GrpcTransportOptions = {}): ConnectOptions {
  return { bindings: [grpcTransport(options)], retry: { firstMs: 1 }, resume: { firstMs: 1 } };
}

function statusOf(code: number, details: string, bytes?: Uint8Array): Error {
  const metadata = new Metadata();
  if (bytes !== undefined) metadata.set('grpc-status-details-bin', Buffer.from(bytes));
  return Object.assign(new Error(details), { code, details, metadata });
}

/** A serialized `google.rpc.Status` with details. */
function richStatus(details: readonly (readonly [type: string, bytes: Uint8Array])[]): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, 0).int32(5).tag(2, 2).string('text');
  for (const [type, bytes] of details)
    writer.tag(3, 2).fork().tag(1, 2).string(`type.googleapis.com/${type}`).tag(2, 2).bytes(bytes).join();
  return writer.finish();
}

const errorInfo = (reason: string, domain = 'a2a-protocol.org') =>
  new BinaryWriter()
    .tag(1, 2)
    .string(reason)
    .tag(2, 2)
    .string(domain)
    .tag(3, 2)
    .fork()
    .tag(1, 2)
    .string('taskId')
    .tag(2, 2)
    .string('t1')
    .join()
    .finish();

describe('a call over gRPC', () => {
  it('sends parameters, credentials and trace context as metadata (Spec §10.2)', async () => {
    await using stub = await GrpcStub.start({ unary: () => taskBytes(TASK) });
    const client = await connect(stub.card({ securitySchemes: {} }), {
      ...over(),
      credentials: bearerToken(TOKEN),
      extensions: ['urn:one', 'urn:two'],
    });
    expect(
      await client.getTask('t1', { traceparent: '00-a-b-01', headers: { 'X-Own': '1', Host: 'x', TE: 'x' } }),
    ).toEqual(TASK);
    const [{ metadata, method } = expect.fail()] = stub.calls;
    expect(method).toBe('GetTask');
    expect(metadata.getMap()).toMatchObject({
      'a2a-version': '1.0',
      'a2a-extensions': 'urn:one, urn:two',
      authorization: `Bearer ${TOKEN}`,
      traceparent: '00-a-b-01',
      'x-own': '1',
    });
    client.close();
  });

  it('refuses a credential for the query and a header that cannot be sent, without showing either', async () => {
    await using stub = await GrpcStub.start({});
    const provider = (query: object, headers: object) => ({ credentials: async () => ({ query, headers }) as never });
    const inQuery = await connect(stub.card(), { ...over(), credentials: provider({ key: TOKEN }, {}) });
    await expect(inQuery.getTask('t1')).rejects.toThrow(/credential in the query of the url, which gRPC does not have/);
    const odd = await connect(stub.card(), { ...over(), credentials: provider({}, { 'x-key': `${TOKEN}\n` }) });
    await expect(odd.getTask('t1')).rejects.toMatchObject({ message: expect.not.stringContaining(TOKEN), sent: false });
    expect(stub.calls).toEqual([]);
  });

  it('is canceled at the agent by a signal and by a time limit', async () => {
    await using stub = await GrpcStub.start({ unary: () => new Promise<never>(() => {}) });
    const client = await connect(stub.card(), over());
    const stop = new AbortController();
    const stopped = client.getTask('t1', { signal: stop.signal });
    await expect.poll(() => stub.calls.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    await expect.poll(() => stub.calls[0]?.gone.aborted).toBe(true);
    await expect(client.getTask('t1', { timeoutMs: 20 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect.poll(() => stub.calls.every(({ gone }) => gone.aborted)).toBe(true);
    client.close();
  });

  it('tells the agent the time that is left, without the time before the call', async () => {
    await using stub = await GrpcStub.start({
      unary: () => taskBytes(TASK),
      stream: (_, rpc) => {
        rpc.write(eventBytes(DONE));
        rpc.end();
      },
    });
    const client = await connect(stub.card({ securitySchemes: {} }), {
      ...over(),
      credentials: {
        credentials: async () => {
          const began = performance.now();
          await vi.waitUntil(() => performance.now() - began > 60, 15_000);
          return { headers: {} };
        },
      },
    });
    await client.getTask('t1', { timeoutMs: 60_000 });
    for await (const _ of client.subscribeToTask('t1', { timeoutMs: 60_000 }));
    await client.getTask('t1');
    const [task = expect.fail(), stream = expect.fail(), without = expect.fail()] = stub.calls;
    for (const call of [task, stream]) {
      expect(call.leftMs).toBeGreaterThan(30_000);
      expect(call.leftMs).toBeLessThanOrEqual(59_950);
    }
    expect(without.leftMs).toBe(Number.POSITIVE_INFINITY);
    client.close();
  });

  it('names the time limit however it ends: by the signal, the library or the agent', async () => {
    await using stub = await GrpcStub.start({ unary: () => new Promise<never>(() => {}) });
    const client = await connect(stub.card(), over());
    const late = Array.from({ length: 20 }, (_, at) => client.getTask('t1', { timeoutMs: 10 + at }));
    for (const outcome of await Promise.allSettled(late))
      expect(outcome).toMatchObject({ reason: { name: 'TimeoutError' } });
    await using early = await GrpcStub.start({
      unary: () => {
        throw statusOf(status.DEADLINE_EXCEEDED, 'the agent gave up');
      },
    });
    const other = await connect(early.card(), over());
    await expect(other.getTask('t1', { timeoutMs: 60_000 })).rejects.toThrow('the agent gave up');
    client.close();
    other.close();
  });

  it('refuses answers over the limit', async () => {
    const long = { ...TASK, metadata: { text: 'x'.repeat(10_000) } };
    await using stub = await GrpcStub.start({
      unary: () => taskBytes(long),
      stream: (_, rpc) => {
        rpc.write(eventBytes({ task: long }));
        rpc.end();
      },
    });
    for (const limits of [
      { answerBytes: 1000, eventBytes: 1000 },
      { answerBytes: 1000, eventBytes: 100_000 },
    ]) {
      const client = await connect(stub.card(), { ...over(), ...limits });
      await expect(client.getTask('t1')).rejects.toMatchObject({
        code: 'INVALID_AGENT_RESPONSE',
        message: expect.stringMatching(/too long|longer than/),
      });
      client.close();
    }
    const client = await connect(stub.card(), { ...over(), eventBytes: 1000 });
    await expect(client.sendStreamingMessage('x').next()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    client.close();
  });
});

describe('an error over gRPC', () => {
  async function errorOf(thrown: Error, version = '1.0') {
    await using stub = await GrpcStub.start({
      unary: () => {
        throw thrown;
      },
    });
    const card = stub.card();
    const supportedInterfaces = card.supportedInterfaces.map((one) => ({ ...one, protocolVersion: version }));
    const client = await connect({ ...card, supportedInterfaces }, { ...over(), retry: { attempts: 0 } });
    const error = await client.getTask('t1').catch((refused: unknown) => refused);
    client.close();
    return error;
  }

  it('is known by the reason in its details (Spec §10.6)', async () => {
    const retry = new BinaryWriter().tag(1, 2).fork().tag(1, 0).int64(2).tag(2, 0).int32(500_000_000).join().finish();
    const violation = new BinaryWriter().tag(1, 2).fork().tag(1, 2).string('id').tag(2, 2).string('is no id').join();
    const details = richStatus([
      ['google.rpc.ErrorInfo', errorInfo('TASK_NOT_CANCELABLE')],
      ['google.rpc.BadRequest', violation.finish()],
      ['google.rpc.RetryInfo', retry],
      ['google.protobuf.Struct', new Uint8Array([1, 2, 3])],
      ['constructor', new Uint8Array([1, 2, 3])],
    ]);
    expect(await errorOf(statusOf(status.NOT_FOUND, 'It ended', details))).toMatchObject({
      name: 'TaskNotCancelableError',
      code: 'TASK_NOT_CANCELABLE',
      message: 'It ended',
      details: {
        metadata: { taskId: 't1' },
        violations: [{ field: 'id', description: 'is no id' }],
        retryAfterMs: 2500,
      },
    });
  });

  it.each([
    [status.NOT_FOUND, 'TASK_NOT_FOUND'],
    [status.INVALID_ARGUMENT, 'INVALID_PARAMS'],
    [status.FAILED_PRECONDITION, 'UNSUPPORTED_OPERATION'],
    [status.UNIMPLEMENTED, 'UNSUPPORTED_OPERATION'],
    [status.UNAUTHENTICATED, 'UNAUTHENTICATED'],
    [status.PERMISSION_DENIED, 'PERMISSION_DENIED'],
    [status.RESOURCE_EXHAUSTED, 'RESOURCE_EXHAUSTED'],
    [status.UNAVAILABLE, 'UNAVAILABLE'],
    [status.INTERNAL, 'INTERNAL_ERROR'],
    [status.UNKNOWN, 'INTERNAL_ERROR'],
  ])('without a reason is known by its status %s', async (code, expected) => {
    const foreign = richStatus([['google.rpc.ErrorInfo', errorInfo('TASK_NOT_CANCELABLE', 'other.example')]]);
    for (const details of [undefined, foreign, new Uint8Array([255, 255, 255])]) {
      const error = await errorOf(statusOf(code, 'no', details));
      expect(error).toMatchObject({ code: expected, message: 'no' });
      expect(error).not.toMatchObject({ name: 'ConnectionError' });
    }
  });
});

describe('a stream over gRPC', () => {
  it('reads no faster than its reader', async () => {
    const event = eventBytes({
      artifactUpdate: {
        taskId: 't1',
        contextId: 'c1',
        artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(16_000) }] },
      },
    });
    let written = 0;
    await using stub = await GrpcStub.start({
      stream: async (_, rpc) => {
        for (; written < 2000; written++) if (!rpc.write(event)) await once(rpc, 'drain');
        rpc.write(eventBytes(DONE));
        rpc.end();
      },
    });
    const client = await connect(stub.card(), over());
    const stream = client.sendStreamingMessage('x');
    await stream.next();
    let before = -1;
    await expect
      .poll(() => {
        const isStill = before === written;
        before = written;
        return isStill;
      })
      .toBe(true);
    expect(written).toBeLessThan(500);
    let count = 1;
    for await (const _ of stream) count++;
    expect([count, written]).toEqual([2001, 2000]);
    client.close();
  });

  it('that is left ends at the agent', async () => {
    await using stub = await GrpcStub.start({
      stream: (_, rpc) => {
        rpc.write(eventBytes(WORKING));
      },
    });
    const client = await connect(stub.card(), over());
    for await (const _ of client.sendStreamingMessage('x')) break;
    await expect.poll(() => stub.calls[0]?.gone.aborted).toBe(true);
    client.close();
  });

  it('that breaks goes on after its last event, if the card offers that', async () => {
    await using stub = await GrpcStub.start({
      stream: ({ number }, rpc) => {
        if (number > 1) {
          rpc.write(Buffer.alloc(0));
          rpc.write(eventBytes(DONE, 3));
          rpc.end();
          return;
        }
        rpc.write(eventBytes({ task: { ...TASK, status: { state: 'TASK_STATE_SUBMITTED' } } }, 1));
        rpc.write(eventBytes(WORKING, 2));
        setImmediate(() => rpc.emit('error', statusOf(status.UNAVAILABLE, 'restarting')));
      },
    });
    const extensions = [{ uri: STREAM_RESUME_EXTENSION }];
    const client = await connect(stub.card({ capabilities: { streaming: true, extensions } }), over());
    const stream = client.sendStreamingMessage('x');
    const states: string[] = [];
    for await (const event of stream) {
      if (event.task !== undefined) states.push(event.task.status.state);
      if (event.statusUpdate !== undefined) states.push(event.statusUpdate.status.state);
    }
    expect(states).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(stub.calls.map(({ method, metadata }) => [method, ...metadata.get('last-event-id')])).toEqual([
      ['SendStreamingMessage'],
      ['SubscribeToTask', '2'],
    ]);
    expect(stub.calls.map(({ metadata }) => metadata.get('a2a-extensions'))).toEqual(
      Array(2).fill([STREAM_RESUME_EXTENSION]),
    );
    client.close();
  });
});

describe('a connection', () => {
  it('is shared by the clients of a transport until the last one closes', async () => {
    await using stub = await GrpcStub.start({ unary: () => taskBytes(TASK) });
    const options = over();
    const [one, two] = [await connect(stub.card(), options), await connect(stub.card(), options)];
    await one.getTask('t1');
    one.close();
    expect(await two.getTask('t1')).toEqual(TASK);
    two.close();
    await expect(one.getTask('t1')).rejects.toMatchObject({ name: 'ConnectionError', isFinal: true });
  });

  it('that closes ends its calls', async () => {
    await using stub = await GrpcStub.start({ unary: () => new Promise<never>(() => {}) });
    const client = await connect(stub.card(), over());
    const call = client.getTask('t1');
    await expect.poll(() => stub.calls.length).toBe(1);
    client.close();
    await expect(call).rejects.toMatchObject({ name: 'ConnectionError', sent: true });
  });

  it('that is not made leads to the next interface', async () => {
    const port = await freePort();
    await using stub = await StubAgent.start(() => result(TASK));
    const [jsonRpc = expect.fail()] = stub.card().supportedInterfaces;
    const grpc = { url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' };
    const client = await connect(stub.card({ supportedInterfaces: [grpc, jsonRpc] }), over());
    expect(await client.getTask('t1')).toEqual(TASK);
    expect(client.agentInterface.protocolBinding).toBe('JSONRPC');
    const alone = await connect(stub.card({ supportedInterfaces: [grpc] }), { ...over(), retry: { attempts: 0 } });
    await expect(alone.sendMessage('x')).rejects.toMatchObject({
      name: 'ConnectionError',
      sent: false,
      message: `127.0.0.1:${port} cannot be reached: nothing listens there (ECONNREFUSED)`,
    });
  });

  it('is made again after the agent restarts', async () => {
    const first = await GrpcStub.start({ unary: () => taskBytes(TASK) });
    const client = await connect(first.card(), over());
    await client.getTask('t1');
    first.cut();
    await expect(client.getTask('t1')).rejects.toMatchObject({ name: 'ConnectionError' });
    client.close();
  });

  it('lets the process end by itself', async () => {
    await using stub = await GrpcStub.start({ unary: () => taskBytes(TASK) });
    const builtFile = (path: string) => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));
    const script = `
      import { connect } from ${JSON.stringify(builtFile('parley/bundle/client.js'))};
      import { grpcTransport } from ${JSON.stringify(builtFile('grpc/dist/index.js'))};
      const client = await connect(${JSON.stringify(stub.card())}, { bindings: [grpcTransport()] });
      console.log((await client.getTask('t1')).id);`;
    const args = ['--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 });
    expect(stdout).toBe('t1\n');
  });

  it('uses TLS with an authority and a client certificate', async () => {
    const authority = makeAuthority('Test authority');
    const { cert, key } = authority.server();
    const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
    const credentials = ServerCredentials.createSsl(Buffer.from(authority.ca), [pair], true);
    await using stub = await GrpcStub.start({ unary: () => taskBytes(TASK) }, credentials);
    const ada = { ca: authority.ca, ...authority.client('ada') };
    for (const url of [stub.address, `https://${stub.address}`]) {
      const client = await connect(stub.card({}, url), over({ tls: ada }));
      expect(await client.getTask('t1')).toEqual(TASK);
      client.close();
    }
    const unknown = await connect(stub.card({}, `https://${stub.address}`), over({ tls: authority.client('ada') }));
    await expect(unknown.getTask('t1')).rejects.toThrow(/cannot be reached: .*certificate/);
    const anonymous = await connect(stub.card(), over({ tls: { ca: authority.ca } }));
    await expect(anonymous.getTask('t1')).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});

it('options at fault are named', () => {
  const { cert } = { cert: 'x' };
  expect(() => grpcTransport({ idleMs: 1, tls: { cert } })).toThrow(/idleMs.*tls\.cert and tls\.key/s);
});
