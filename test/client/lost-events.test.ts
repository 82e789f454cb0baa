import { connect } from 'parley-a2a';
import { createA2AHost } from 'parley-a2a/node';
import { capnwebBinding, capnwebTransport } from 'parley-a2a-capnweb';
import { grpcBinding, grpcTransport } from 'parley-a2a-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientBinding } from '../../packages/parley/src/client/client-transport.js';

const CHUNKS = 12;
const WHOLE = Array.from({ length: CHUNKS }, (_, at) => String(at)).join(' ');

/** A binding that loses the events with these numbers, once each, before the client sees them. */
function loseEvents(binding: ClientBinding, lost: readonly number[]) {
  const left = new Set(lost.map(String));
  let streams = 0;
  const dropLost = <Event extends { readonly id?: string | undefined }>(events: readonly Event[]) =>
    events.filter(({ id }) => !left.delete(String(id)));
  const wrapped: ClientBinding = {
    ...binding,
    async transport(...parts) {
      const transport = await binding.transport(...parts);
      const stream: typeof transport.stream = async (call) => {
        streams += 1;
        const { first, events } = await transport.stream(call);
        return {
          first: first.done === true ? first : { ...first, value: dropLost(first.value) },
          events: {
            async next() {
              const next = await events.next();
              return next.done === true ? next : { ...next, value: dropLost(next.value) };
            },
            return: async () => (await events.return?.()) ?? { done: true, value: undefined },
          },
        };
      };
      return new Proxy(transport, {
        get: (target, name) => {
          const value = name === 'stream' ? stream : Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
  return { wrapped, streams: () => streams };
}

describe.each([
  ['gRPC', () => grpcBinding({ agent: '/', port: 0 }), grpcTransport],
  ["Cap'n Web", () => capnwebBinding(), capnwebTransport],
] as const)('an event that is lost on the way, over %s', (_name, serve, transport) => {
  it.each([[[6]], [[3, 6, 9]], [[5, 6, 7]]])('%j shows as a gap, and no text is missing or doubled', async (lost) => {
    const host = createA2AHost({
      agents: {
        '/': {
          agent: {
            async execute(_context, events) {
              await events.working();
              const id = await events.artifact('0', { lastChunk: false });
              for (let at = 1; at < CHUNKS; at += 1)
                await events.append(id, ` ${at}`, { lastChunk: at === CHUNKS - 1 });
              await events.complete();
            },
          },
        },
      },
      bindings: [serve()],
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    onTestFinished(() => host.close({ graceMs: 0 }));
    await host.listen(0);
    const { wrapped, streams } = loseEvents(transport(), lost);
    const card = host.agentCards['/'];
    if (card === undefined) throw new Error('no card');
    const supportedInterfaces = (host.interfaces['/'] ?? []).filter((one) => wrapped.speaks(one));
    const client = await connect(
      { ...card, supportedInterfaces },
      { bindings: [wrapped], version: '1.0', resume: { firstMs: 1, longestMs: 2 } },
    );
    onTestFinished(() => client.close());
    const stream = client.sendStreamingMessage('hi');
    let text = '';
    for await (const event of stream) {
      if (event.artifactUpdate !== undefined)
        text += event.artifactUpdate.artifact.parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
    }
    expect([text, stream.state]).toEqual([WHOLE, 'TASK_STATE_COMPLETED']);
    expect(streams()).toBeGreaterThan(1);
  });
});
