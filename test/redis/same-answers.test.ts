import { afterAll, afterEach } from 'vitest';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { partitionOf } from '../../packages/parley/src/store/partition.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { sameAnswersProperty } from '../contract/storage/same-answers.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

const server = await RedisServer.start();
const storages = new RedisStorages(server.url);
let open: TaskStorage | undefined;
afterEach(() => open?.close());
afterAll(() => server[Symbol.asyncDispose]());

/** Returns another owner in the partition of Alice: claims and sweeps have an order only within a partition. */
function neighbourOfAlice(agent: string): string {
  const partition = partitionOf({ agent, tenant: '', owner: 'alice' });
  for (let at = 0; ; at += 1)
    if (partitionOf({ agent, tenant: '', owner: `owner ${at}` }) === partition) return `owner ${at}`;
}

sameAnswersProperty(
  'Redis',
  async () => {
    await open?.close();
    const clock = new StorageClock();
    open = await storages.open(clock);
    return { clock, memory: new MemoryStorage({ clock }), other: open, secondOwner: neighbourOfAlice };
  },
  process.env.TEST_LONG === '1' ? 1_000 : 60,
);
