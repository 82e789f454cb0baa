// A server for attacks. Usage: node --expose-gc hardening-server.mjs OPTIONS, which are JSON. It sends its port to the
// parent process, and its resources on request.
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';

const { databaseUrl, ...options } = JSON.parse(process.argv[2]);
const held = new Set();

/** The first word of a message says what happens. */
const BEHAVIOURS = {
  async hold(context, events) {
    await events.working('holding');
    await new Promise((release) => {
      held.add(release);
      context.signal.addEventListener('abort', release);
    });
    await events.complete('released');
  },
  ask: (_context, events) => events.inputRequired('and then?'),
  async chunks(_context, events, count) {
    const id = await events.artifact('chunk', { artifactId: 'chunks' });
    for (let chunk = 1; chunk < count; chunk += 1) await events.append(id, 'chunk');
    await events.complete('all chunks');
  },
  async flood(_context, events, count) {
    for (let round = 0; round < count; round += 1) {
      await events.artifact(String(round).padEnd(100_000), { artifactId: 'flood' });
    }
    await events.complete('all of it');
  },
  async large(_context, events, count) {
    await events.artifact('x'.repeat(count), { artifactId: 'large' });
    await events.complete('all of it');
  },
};

const executor = {
  execute(context, events) {
    const [, word = '', count = '1'] = /^(\w+)(?: (\d{1,7}))?$/.exec(context.text) ?? [];
    const behaviour = Object.hasOwn(BEHAVIOURS, word) ? BEHAVIOURS[word] : undefined;
    return behaviour === undefined ? events.complete('done') : behaviour(context, events, Number(count));
  },
};

const log = [];
const note = (level) => (message, fields) => {
  const { error, ...rest } = fields ?? {};
  log.push({ level, message, error: error === undefined ? undefined : String(error?.stack ?? error), fields: rest });
};

const server = createA2AServer({
  agent: executor,
  name: 'Attacked',
  path: '/agent',
  storage: await openStorage(databaseUrl),
  logger: { debug: () => {}, info: () => {}, warn: note('warn'), error: note('error') },
  ...options,
});

process.on('message', (question) => {
  if (question === 'release') {
    for (const release of held) release();
    held.clear();
  }
  if (question === 'collect') for (let round = 0; round < 3; round += 1) globalThis.gc();
  const { heapUsed, rss, external } = process.memoryUsage();
  const resources = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  process.send({ heapUsed, rss, external, resources, log });
});
process.on('disconnect', () => process.exit(1));

const { url } = await server.listen(0);
process.send({ port: Number(new URL(url).port) });
