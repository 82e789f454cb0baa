import { createA2AServer } from 'parley-a2a/node';
import { grpcBinding } from 'parley-a2a-grpc';

// Reports the port of gRPC to its parent, and on request its memory: after a garbage collection, and the maximum.
const server = createA2AServer({
  agent: {
    async execute({ text }, events) {
      await events.working();
      if (text === 'wait') await events.inputRequired('and?');
      else await events.complete(text);
    },
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  bindings: [grpcBinding({ port: 0, ...JSON.parse(process.argv[2] ?? '{}') })],
});
await server.listen(0);
const { url = '' } = server.interfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC') ?? {};
let highest = 0;
setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss());
}, 20).unref();
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  process.send?.({ used: heapUsed + arrayBuffers, rss, highest });
  highest = rss;
});
process.send?.({ port: Number(url.split(':').at(-1)) });
