// A replica of the benchmark: an agent on the database of DATABASE_URL, in a process of its own.
import { setTimeout as pause } from 'node:timers/promises';
import { silentLogger } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import type { AgentExecutor } from 'parley-a2a/server';
import { openStorage } from 'parley-a2a/storage';
import { postgresBackend } from 'parley-a2a-postgres';
import { redisBackend } from 'parley-a2a-redis';
import { ready, tellFigures, told } from '../subjects/subject-host.js';
import { betweenEvents, nextTurn } from '../workloads.js';
import { CHUNK, LIMITS, stamped } from './replica-agent.js';

/** The first word of a message chooses: `task`, `stream N`, `fan N`, `idle`, `hold`. */
const executor: AgentExecutor = {
  resumable: true,
  async execute({ text, signal, attempt }, events) {
    const [what, count = ''] = text.split(' ');
    if (what === 'stream') {
      for (let index = 0; index < Number(count); index++) {
        await nextTurn();
        await (index === 0 ? events.artifact(CHUNK, { artifactId: 'a' }) : events.append('a', CHUNK));
      }
    } else if (what === 'fan') {
      await told();
      for (let index = 0; index < Number(count); index++) {
        await betweenEvents();
        await (index === 0 ? events.artifact(stamped(), { artifactId: 'a' }) : events.append('a', stamped()));
      }
    } else if (what === 'idle' || (what === 'hold' && attempt === 1)) {
      await events.artifact(stamped(), { artifactId: 'a' });
      await aborted(signal);
      tellFigures({ abortedAt: performance.timeOrigin + performance.now() });
      throw signal.reason;
    } else {
      await events.artifact(stamped(), { artifactId: 'a' });
    }
    await events.complete();
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const storage = await openStorage(process.env.DATABASE_URL ?? 'memory:', {
  logger: silentLogger,
  backends: [postgresBackend, redisBackend],
});
const server = createA2AServer({
  agent: executor,
  storage,
  logger: silentLogger,
  limits: LIMITS,
  metrics: false,
  concurrency: { streamsPerCaller: 100_000, streams: 100_000, turnsPerCaller: 100_000, turns: 100_000 },
});
const { url } = await server.listen(0);
ready(Number(new URL(url).port));
process.once('SIGTERM', async () => {
  await server.close({ graceMs: 1_000 });
  await pause(0);
  process.exit(0);
});
