// One replica of the agents of these tests. Usage: replica-server.mjs DATABASE_URL OPTIONS, which is JSON:
// `agents`: the paths to serve; `clockOffMs`: the error of the clock of the process; `rateLimit`, `graceMs`, `leaseMs`.
// `operatorToken` is the token of the operator API. The replica takes no turns over beyond `runningTurns`.
// Its first line of output is its address. A line follows for each run of an agent.
import { setTimeout as pause } from 'node:timers/promises';
import { createA2AHost } from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { openStorage } from 'parley-a2a/storage';
import { BACKENDS } from '../support/backends.ts';

const options = JSON.parse(process.argv[3] ?? '{}');
const { agents = ['/'], clockOffMs = 0, operatorToken, rateLimit } = options;
const { graceMs = 300, leaseMs = 3_000, runningTurns = 1_000 } = options;
if (clockOffMs !== 0) {
  const { now } = Date;
  Date.now = () => now() + clockOffMs;
}

const aborted = ({ signal }) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** True for a first attempt whose end is that of its process, however long that takes. */
const isHeld = ({ text, attempt }) => text.startsWith('held ') && attempt === 1;

async function execute(context, events) {
  const [kind, first, second] = context.text.split(' ');
  process.stdout.write(`ran ${context.text} attempt ${context.attempt}\n`);
  await events.working();
  switch (kind) {
    case 'echo':
      return events.complete(context.text);
    case 'ask':
      return events.inputRequired('and then?');
    case 'idle':
      return aborted(context);
    case 'linger':
      await aborted(context);
      return pause(500);
    case 'steps':
    case 'held':
      for (let step = 1; step <= Number(first) || isHeld(context); step += 1) {
        if (context.signal.aborted) return;
        await events.artifact(`step ${step}`, { artifactId: 'steps' });
        await pause(Number(second));
      }
      return events.complete('all steps');
    case 'die':
      await events.flush();
      return process.kill(process.pid, 'SIGKILL');
    case 'login': {
      const { parameters } = await context.requestAuthorization({
        message: 'Please log in',
        url: ({ url, state }) => `${url}?state=${state}`,
      });
      return events.complete(`got ${parameters.code.length} characters`);
    }
    default:
      return events.complete('done');
  }
}

async function reply(context, events) {
  process.stdout.write(`ran ${context.text} attempt ${context.attempt}\n`);
  await pause(300);
  await events.message(`reply of ${process.pid}`);
}

const limits = {
  leaseMs,
  leaseRenewalMs: leaseMs / 3,
  fenceMarginMs: 500,
  lookMs: 1_000,
  runningTurns,
  cancelGraceMs: 2_000,
  storagePatienceMs: 3_000,
};
const idempotency = { anonymous: true };
const known = {
  '/': { name: 'Main', agent: { resumable: true, execute } },
  '/once': { name: 'Once', agent: { execute } },
  '/other': { name: 'Other', agent: { execute } },
  '/either': { name: 'Either', agent: { replies: 'either', execute: reply } },
};
const storage = await openStorage(process.argv[2], { backends: BACKENDS });
const host = createA2AHost({
  agents: Object.fromEntries(agents.map((path) => [path, { ...known[path], limits, idempotency }])),
  storage,
  streamHeartbeatMs: 500,
  push: { allow: ['127.0.0.0/8'], firstDelayMs: 50 },
  ...(operatorToken && { operator: operatorApi({ token: operatorToken }) }),
  ...(rateLimit && { rateLimit }),
  logRequests: false,
});
const { url } = await host.listen(0);
process.stdout.write(`${url}\n`);
process.once('SIGTERM', async () => {
  await host.close({ graceMs });
  await storage.close();
  process.exit(0);
});
