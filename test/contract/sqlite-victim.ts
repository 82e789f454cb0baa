import { pathToFileURL } from 'node:url';
import { SqliteStorage } from '../../packages/parley/src/store/sqlite/sqlite-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';

// Accepts messages in a process until it is killed, and prints the acknowledged ones.

const [path = '', worker = ''] = process.argv.slice(2);
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: () => () => {},
  soon: (task: () => void) => void setImmediate(task),
  hold: <T>(work: Promise<T>) => work,
};
const storage = await SqliteStorage.open({
  path,
  clock,
  logger: silentLogger,
  worker: worker.startsWith('file:') ? new URL(worker) : pathToFileURL(worker),
});

async function acceptForever(name: string): Promise<never> {
  for (let count = 0; ; count += 1) {
    const id = `${name}-${count}`;
    const outcome = await storage.accept({
      scope: { agent: 'test', tenant: '', owner: 'alice' },
      message: { messageId: id, role: 'ROLE_USER', parts: [{ text: id }] },
      caller: { extensions: [], version: '1.0' },
      task: { create: { id, contextId: id, status: { state: 'TASK_STATE_SUBMITTED' } } },
      claim: { node: 'victim', leaseMs: 60_000 },
      waitingLimit: 1,
    });
    if (outcome.kind === 'accepted') process.send?.(id);
  }
}

await Promise.all(['a', 'b', 'c', 'd'].map(acceptForever));
