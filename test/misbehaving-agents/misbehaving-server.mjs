// A real server with an agent that misbehaves as its message says, and one that behaves. Usage: misbehaving-server.mjs
// DATABASE_URL [OPTIONS] Commands and log lines use the IPC channel.
import { createA2AHost } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { behaviours } from './agents/all.mjs';

const [url, options = '{}'] = process.argv.slice(2);
const { appendMs = 0, uncaughtErrors } = JSON.parse(options);
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
const opened = await openStorage(url);
/** A store that takes its time with every commit. */
const slow = {
  get: (target, name) =>
    name === 'append'
      ? (append) => new Promise((resolve) => setTimeout(resolve, appendMs)).then(() => target.append(append))
      : typeof target[name] === 'function'
        ? target[name].bind(target)
        : target[name],
};
const storage = appendMs > 0 ? new Proxy(opened, slow) : opened;
const host = createA2AHost({
  agents: {
    '/bad': { agent: misbehaving, name: 'Bad', limits },
    '/either': { agent: { ...misbehaving, replies: 'either' }, name: 'Either', limits },
    '/again': { agent: { ...misbehaving, resumable: true }, name: 'Again', limits },
    '/slow-again': { agent: { ...misbehaving, resumable: true }, name: 'Slow', limits },
    '/late': { agent: misbehaving, name: 'Late', limits: { ...limits, turnDeadlineMs: 200 } },
    '/good': { agent: behaving, name: 'Good' },
  },
  storage,
  logger,
  streamHeartbeatMs: 200,
  ...(uncaughtErrors && { uncaughtErrors }),
});

const commands = {
  memory() {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const { maxRSS } = process.resourceUsage();
    const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
    return { rss, heapUsed, maxRss: maxRSS * 1024, listeners, timers };
  },
  async close() {
    await host.close({ graceMs: 300 });
    await storage.close();
    return { listeners: process.listenerCount('uncaughtException') };
  },
};
// Ends with its parent.
process.on('disconnect', () => process.exit());
process.on('message', async ({ id, command }) => process.send({ id, answer: await commands[command]() }));

const { url: address } = await host.listen(0);
process.send({ address });
