// A real server with an agent that misbehaves as its message says, and one that behaves. Usage: misbehaving-server.mjs DATABASE_URL
// Commands come over the IPC channel; log lines go to it as well.
import { createA2AHost } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { behaviours } from './agents/all.mjs';

const [url] = process.argv.slice(2);
const log =
  (level) =>
  (message, { error, ...fields } = {}) =>
    process.send({ log: { level, message, fields, hasError: error !== undefined } });
const logger = { debug() {}, info() {}, warn: log('warn'), error: log('error') };

const named = ({ text }) => behaviours[text.split('#')[0]];
const misbehaving = {
  execute: (context, events) => named(context).run(context, events),
  cancel: (context, events) => named(context).cancel?.(context, events),
};
const behaving = {
  async execute({ text }, events) {
    const id = await events.artifact('You said ');
    await events.append(id, text);
    await events.complete('done');
  },
};

// A task's size is small, so that what is too large is soon made.
const limits = { cancelGraceMs: 300, taskBytes: 4_000_000 };
const storage = await openStorage(url);
const host = createA2AHost({
  agents: {
    '/bad': { agent: misbehaving, name: 'Bad', limits },
    '/either': { agent: { ...misbehaving, replies: 'either' }, name: 'Either', limits },
    '/late': { agent: misbehaving, name: 'Late', limits: { ...limits, turnDeadlineMs: 200 } },
    '/good': { agent: behaving, name: 'Good' },
  },
  storage,
  logger,
  streamHeartbeatMs: 500,
});

const commands = {
  memory() {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
    return { rss, heapUsed, listeners, resources: process.getActiveResourcesInfo().length };
  },
  async close() {
    await host.close({ graceMs: 300 });
    await storage.close();
    return { listeners: process.listenerCount('uncaughtException') };
  },
};
process.on('message', async ({ id, command }) => process.send({ id, answer: await commands[command]() }));

const { url: address } = await host.listen(0);
process.send({ address });
