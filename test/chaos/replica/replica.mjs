// A replica of the chaos run: the agents on DATABASE_URL. The parent hears when it listens.
// Arguments: name of the process, port, path of the journal.
import { createA2AHost } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { BACKENDS } from '../../support/backends.ts';
import { agentsOf } from './agents.mjs';
import { Journal } from './journal.mjs';

const [, , name, port, path] = process.argv;
const LIMITS = {
  leaseMs: 2_000,
  leaseRenewalMs: 500,
  fenceMarginMs: 400,
  cancelGraceMs: 1_000,
  lookMs: 1_000,
  storagePatienceMs: 3_000,
  turnDeadlineMs: 300_000,
};
const DAY_MS = 86_400_000;

const journal = new Journal(path);
journal.watchStalls();
const agents = Object.fromEntries(
  Object.entries(agentsOf({ journal, process: name })).map(([place, options]) => [
    place,
    {
      ...options,
      name: `Chaos ${place}`,
      limits: LIMITS,
      idempotency: { anonymous: true, windowMs: DAY_MS },
    },
  ]),
);
const storage = await openStorage(process.env.DATABASE_URL, { backends: BACKENDS });
const host = createA2AHost({
  agents,
  storage,
  url: process.env.PUBLIC_URL,
  retention: { taskRetentionMs: DAY_MS, eventLogMs: DAY_MS, everyMs: 5_000 },
  concurrency: { streamsPerCaller: 10_000, turnsPerCaller: 10_000 },
  push: {
    allow: ['127.0.0.0/8'],
    attempts: 1_000_000,
    timeoutMs: 1_000,
    firstDelayMs: 50,
    maxDelayMs: 500,
    inFlightPerHost: 64,
  },
});
await host.listen(Number(port));
process.send('ready');

process.once('SIGTERM', async () => {
  await host.close({ graceMs: 1_000 });
  await storage.close();
  process.exit(0);
});
// Ends with the parent process.
process.once('disconnect', () => process.exit(1));
