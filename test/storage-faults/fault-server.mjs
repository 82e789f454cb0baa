// A server whose storage the tests break. Usage: fault-server.mjs DATABASE_URL. It prints its addresses as one line of
// JSON. SIGUSR2 ends the threads of its storage.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const started = new Set();
const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(...options) {
    super(...options);
    started.add(this);
    this.once('exit', () => started.delete(this));
  }
};
syncBuiltinESMExports();

const { createA2AServer } = await import('parley-a2a/node');
const { openStorage } = await import('parley-a2a/storage');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Turns of `open` go on until a message says `close`. */
let isOpen = true;

const executor = {
  async execute(context, events) {
    const [kind = '', count = '0'] = context.text.split(' ');
    await events.working();
    if (kind === 'large') await events.artifact('x'.repeat(Number(count)), { artifactId: 'large' });
    if (kind === 'ask') return events.inputRequired('and then?');
    if (kind === 'close') isOpen = false;
    if (kind === 'steady' || kind === 'open') {
      const id = await events.artifact('chunk 0', { artifactId: 'log' });
      const goesOn = (chunk) => (kind === 'open' ? isOpen : chunk < Number(count));
      for (let chunk = 1; goesOn(chunk) && !context.signal.aborted; chunk += 1) {
        await pause(5);
        await events.append(id, ` chunk ${chunk} ${'x'.repeat(200)}`);
      }
    }
    await events.complete('done');
  },
};

const storage = await openStorage(process.argv[2]);
const server = createA2AServer({ agent: executor, name: 'Faults', storage });
await server.listen(0);
// Ends with the tests, because its stdin then ends.
process.stdin
  .on('end', () => process.exit(1))
  .resume()
  .unref();
process.on('SIGUSR2', () => {
  for (const thread of started) void thread.terminate();
});
process.on('SIGTERM', async () => {
  await server.close({ graceMs: 500 });
  await storage.close();
});
const urls = server.agentCard.supportedInterfaces.map(({ protocolBinding, url }) => [protocolBinding, url]);
process.stdout.write(`${JSON.stringify(Object.fromEntries(urls))}\n`);
