import { type A2AServer, type AgentExecutor, ConnectionError, connect, createA2AServer } from 'parley-a2a';
import type { ConnectOptions } from 'parley-a2a/client';
import { CAPNWEB_BINDING, capnwebBinding, capnwebTransport, connectCapnweb } from 'parley-a2a-capnweb';
import { grpcBinding, grpcTransport } from 'parley-a2a-grpc';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CapnwebPeer } from '../support/capnweb-peer.js';

const WAYS: readonly (readonly [string, ConnectOptions])[] = [
  ['JSON-RPC', { binding: 'JSONRPC' }],
  ['HTTP+JSON', { binding: 'HTTP+JSON' }],
  ['gRPC', { binding: 'GRPC', bindings: [grpcTransport()] }],
  ["Cap'n Web", { binding: CAPNWEB_BINDING, bindings: [capnwebTransport()] }],
  ['in-process', {}],
];

/** Works until it is told to stop. */
const waits: AgentExecutor = {
  async execute({ signal }, events) {
    await events.working();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  },
};

async function serveAgent(
  agent = waits,
): Promise<{ readonly server: A2AServer; readonly url: string; calls: () => number }> {
  let count = 0;
  const server = createA2AServer({
    agent,
    health: false,
    bindings: [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()],
    interceptors: [
      (call, next) => {
        count += 1;
        return next(call);
      },
    ],
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  return { server, url, calls: () => count };
}

const closedError = { name: 'ConnectionError', isFinal: true, message: 'The client is closed' };

describe.each(WAYS)('a closed client of %s', (name, options) => {
  it('ends its streams and waits, and calls no more', async () => {
    const { server, url, calls } = await serveAgent();
    const client = await connect(name === 'in-process' ? server : url, options);
    const stream = client.sendStreamingMessage('hi');
    while (stream.taskId === undefined || stream.state !== 'TASK_STATE_WORKING') await stream.next();
    const id = stream.taskId ?? '';
    const other = client.subscribeToTask(id);
    await other.next();
    const ends = [stream.next(), other.next(), client.waitFor(id)].map((end) => end.catch((error: unknown) => error));
    const unread = client.subscribeToTask(id);
    const before = calls();
    client.close();
    for (const end of await Promise.all(ends)) expect(end).toMatchObject(closedError);
    await expect(unread.next()).rejects.toMatchObject(closedError);
    await expect(client.getTask(id)).rejects.toMatchObject(closedError);
    await expect(client.sendMessage('more')).rejects.toBeInstanceOf(ConnectionError);
    expect(calls()).toBeLessThanOrEqual(before + 1);
    client.close();
  });

  it('ends a stream that is between two connections', async () => {
    const { server, url } = await serveAgent();
    const client = await connect(name === 'in-process' ? server : url, { ...options, resume: { firstMs: 600_000 } });
    const stream = client.sendStreamingMessage('hi');
    await stream.next();
    await server.close({ graceMs: 0 });
    const end = (async () => {
      for await (const _ of stream);
    })().catch((error: unknown) => error);
    await vi.waitFor(() => expect(name === 'in-process' || stream.state !== undefined).toBe(true), 15_000);
    client.close();
    expect(await end).toMatchObject({ name: 'ConnectionError', isFinal: true });
  });
});

describe('a watch', () => {
  it.each(['close', 'dispose'] as const)('ends by %s of its agent', async (how) => {
    const { url } = await serveAgent();
    const agent = await connectCapnweb(url, { resume: { firstMs: 1 } });
    const { answer, task } = agent.send({
      message: { parts: [{ text: 'hi' }] },
      configuration: { returnImmediately: true },
    });
    await answer;
    const seen: number[] = [];
    const watch = task.watch((events) => void seen.push(...events.map(({ seq }) => seq ?? 0)), { after: 0 });
    await vi.waitFor(() => expect(seen.length).toBeGreaterThan(1), 15_000);
    if (how === 'close') agent.close();
    else agent[Symbol.dispose]();
    await watch.ended;
    await expect(task.watch(() => {}).ended).rejects.toMatchObject(closedError);
  });

  it('gives up after the attempts of its client, when each session breaks at once', async () => {
    const peer = await CapnwebPeer.open({
      methods: {
        task: () => {
          for (const socket of peer.sockets) socket.terminate();
          return new Promise(() => {});
        },
      },
    });
    onTestFinished(() => peer[Symbol.asyncDispose]());
    const card = {
      name: 'peer',
      description: 'd',
      version: '1',
      supportedInterfaces: [{ url: peer.url, protocolBinding: CAPNWEB_BINDING, protocolVersion: '1.0' }],
      capabilities: { streaming: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    };
    const agent = await connectCapnweb(card, { resume: { attempts: 2, firstMs: 1, longestMs: 2 } });
    onTestFinished(() => agent.close());
    await expect(agent.task('t').watch(() => {}).ended).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(peer.connections).toBeLessThanOrEqual(4);
  });
});

describe('a file of the caller that cannot be read', () => {
  it('is the error of its stream, and no error of the agent', async () => {
    const { url } = await serveAgent();
    const agent = await connectCapnweb(url);
    onTestFinished(() => agent.close());
    const own = new Error('the disk of the caller');
    const raw = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(10));
        controller.error(own);
      },
    });
    await expect(agent.send({ message: { parts: [{ raw }] } }).answer).rejects.toBe(own);
    const configuration = { returnImmediately: true };
    const { answer, task } = agent.send({ message: { parts: [{ text: 'hi' }] }, configuration });
    await answer;
    const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(own) });
    await expect(task.send({ parts: [{ raw: broken }] })).rejects.toBe(own);
  });
});
