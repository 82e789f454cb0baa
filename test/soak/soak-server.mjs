// The server of the soak: two agents on SQLite at its default durability, with a short retention so that sweeps are
// part of the run. Usage: node --expose-gc soak-server.mjs DATABASE_URL FINISHED_MS EVENT_LOG_MS. Its parent asks for
// figures over IPC. SOAK_PLANTED names a fault that the checks must find: heap, socket, slow, wrong, stuck, secret.
import { connect } from 'node:net';
import { createA2AHost } from 'parley-a2a/node';
import { agent } from 'parley-a2a/server';
import { openStorage } from 'parley-a2a/storage';
import { PLANTED } from '../../packages/parley/test/planted-secrets.ts';

const [, , databaseUrl, taskRetentionMs, eventLogMs] = process.argv;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const kept = [];
let calls = 0;
const planted = {
  heap: () => void kept.push(Buffer.alloc(20_000, ++calls).toString('latin1')),
  socket: () => void (++calls % 20 === 0 && kept.push(connect(port, '127.0.0.1'))),
  slow: () => pause(process.uptime() ** 3 / 50),
  wrong: (events) => (++calls === 1000 ? events.fail('planted') : undefined),
  stuck: () => (++calls === 1000 ? new Promise(() => {}) : undefined),
  secret: () => void (++calls === 1000 && console.log(PLANTED)),
}[process.env.SOAK_PLANTED];

const worker = {
  async execute(context, events) {
    const [what, count = '8'] = context.text.split(' ');
    await planted?.(events);
    if (what === 'ask') return events.inputRequired('and then?');
    if (what === 'long') {
      await events.working('until it is cancelled');
      if (!context.signal.aborted) await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      return;
    }
    if (what === 'stream') {
      const id = await events.artifact('chunk 0', { artifactId: 'log' });
      for (let chunk = 1; chunk < Number(count); chunk += 1) {
        if (chunk % 4 === 0) await pause(2);
        await events.append(id, `chunk ${chunk}`);
      }
    } else {
      await events.artifact(`done: ${context.text}`, { artifactId: 'log' });
    }
    await events.complete();
  },
};

const storage = await openStorage(databaseUrl);
const host = createA2AHost({
  agents: {
    '/': { agent: worker },
    '/call': { agent: { replies: 'either', execute: (context, events) => events.message(context.text) } },
    '/function': { agent: agent((prompt) => `done: ${prompt}`) },
  },
  storage,
  retention: { taskRetentionMs: Number(taskRetentionMs), eventLogMs: Number(eventLogMs), everyMs: 500 },
});
const { url } = await host.listen(0);
const port = Number(new URL(url).port);

process.on('message', ({ kind }) => {
  if (kind !== 'measure') return;
  const { user, system } = process.cpuUsage();
  globalThis.gc();
  const { heapUsed, rss, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  process.send({ kind: 'measured', heap: heapUsed + external, rss, sockets, cpuMicros: user + system });
});
process.once('SIGTERM', async () => {
  await host.close();
  await storage.close();
  process.exit(0);
});
process.send({ kind: 'ready', url });
