import { createA2AServer } from 'parley-a2a/node';
import { capnwebBinding } from 'parley-a2a-capnweb';

// Reports its address to its parent, and its memory on request.
const server = createA2AServer({
  agent: {
    async execute({ message }, events) {
      const { lines = 0 } = message.metadata ?? {};
      await events.working();
      for (let line = 0; line < lines; line++) await events.append('log', 'x'.repeat(200));
      if (message.metadata?.asks) await events.inputRequired('and?');
      else await events.complete();
    },
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  bindings: [capnwebBinding(JSON.parse(process.argv[2] ?? '{}'))],
});
const { url } = await server.listen(0);
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ heapUsed, arrayBuffers });
});
// Ends with its parent.
process.on('disconnect', () => process.exit());
process.send?.({ url });
