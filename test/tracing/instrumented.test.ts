import { connect } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { expect, it, vi } from 'vitest';
import { Replica } from '../replicas/replica.js';
import { OtlpReceiver } from './otlp-receiver.js';

const PROGRAM = new URL('instrumented-server.mjs', import.meta.url).href;
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

it.each(['node', 'express', 'fastify', 'grpc'])(
  'on %s the span of the instrumentation is the span of the call',
  async (host) => {
    await using receiver = await OtlpReceiver.start();
    await using replica = await Replica.start(receiver.url, { program: PROGRAM, settings: { host } });
    const isGrpc = host === 'grpc';
    const client = await connect(replica.url, isGrpc ? { prefer: ['GRPC'], bindings: [grpcTransport()] } : {});
    expect(client.agentInterface.protocolBinding).toBe(isGrpc ? 'GRPC' : 'JSONRPC');
    await client.sendMessage(
      { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] } },
      { traceparent: TRACEPARENT },
    );
    await client.close();
    const inTrace = () => receiver.spans.filter(({ traceId }) => TRACEPARENT.includes(traceId));
    // Each span comes on a connection of its own, so in any order.
    await vi.waitFor(() => {
      expect(inTrace().some(({ kind }) => kind === 'SERVER')).toBe(true);
      const turn = inTrace().find(({ name }) => name === 'invoke_agent Instrumented');
      expect(inTrace().map(({ spanId }) => spanId)).toContain(turn?.parent);
    }, 20_000);
    const servers = inTrace().filter(({ kind }) => kind === 'SERVER');
    expect(servers).toHaveLength(1);
    expect(servers[0]).toMatchObject({
      parent: 'b7ad6b7169203331',
      attributes: {
        'a2a.method.name': 'SendMessage',
        'a2a.task.state': 'TASK_STATE_COMPLETED',
        'gen_ai.agent.name': 'Instrumented',
      },
    });
    // The instrumentation of HTTP has made it, and may give it the name of a route at its end.
    // No instrumentation knows the server for gRPC, which is not that of grpc-js.
    expect(Object.hasOwn(servers[0]?.attributes ?? {}, 'http.request.method')).toBe(!isGrpc);
  },
);
