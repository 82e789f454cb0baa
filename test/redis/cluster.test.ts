import { afterAll, describe, expect, it } from 'vitest';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { partitionOf } from '../../packages/parley/src/store/partition.js';
import type { Scope, TaskKey } from '../../packages/parley/src/store/task-key.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { scopedTasksContract } from '../contract/scoped-tasks-contract.js';
import { ALICE, acceptance, userMessage } from '../contract/storage/task-play.js';
import type { OpenStorage } from '../contract/storage/tested-storage.js';
import { storageContract } from '../contract/storage-contract.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisStorages } from './redis-storages.js';

const cluster = await RedisCluster.start();
afterAll(() => cluster[Symbol.asyncDispose]());
const storages = new RedisStorages(cluster.url);

const open: OpenStorage = (clock, options) => storages.open(clock, options);

storageContract('Redis Cluster', open, { differsIn: 'places' });
scopedTasksContract('Redis Cluster', open);

/** Owners of tasks, enough for many partitions. */
const OWNERS = Array.from({ length: 60 }, (_, at) => `owner ${at}`);

/** Creates tasks of all owners until `stop`. */
class Writers {
  readonly accepted: TaskKey[] = [];
  readonly failures: unknown[] = [];
  readonly #done: Promise<unknown>;
  #isOver = false;

  constructor(storage: TaskStorage, name: string) {
    this.#done = Promise.all(
      OWNERS.map(async (owner) => {
        const scope = { ...ALICE, owner };
        for (let at = 0; !this.#isOver; at += 1) {
          const id = `${name}-${at}`;
          const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: '2026-01-01T00:00:00.000Z' };
          const message = acceptance(
            userMessage('x'),
            { id, contextId: 'c', status, history: [userMessage('x')] },
            { scope },
          );
          await storage.accept(message).then(
            () => this.accepted.push({ scope, id }),
            (error: unknown) => this.failures.push(error),
          );
          await new Promise(setImmediate);
        }
      }),
    );
  }

  /** Resolves when all calls have ended. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}

async function missingTasks(storage: TaskStorage, keys: readonly TaskKey[]): Promise<readonly TaskKey[]> {
  const lost: TaskKey[] = [];
  for (let at = 0; at < keys.length; at += 200) {
    const some = keys.slice(at, at + 200);
    const heads = await storage.heads(some);
    lost.push(...some.filter((_, place) => heads[place] === undefined));
  }
  return lost;
}

/** Returns the scope of an owner whose slot has no keys. */
async function emptyPartition(): Promise<{ readonly scope: Scope; readonly slot: number }> {
  for (let at = 0; at < 1_000; at += 1) {
    const scope = { ...ALICE, owner: `lonely ${at}` };
    const slot = await cluster.emptySlotOf(`{p${partitionOf(scope)}}`);
    if (slot !== undefined) return { scope, slot };
  }
  throw new Error('Every slot has keys');
}

describe('a storage in a Redis Cluster', () => {
  it('loses no task while slots move to another server', async () => {
    const storage = await openRedisStorage({ url: cluster.url, prefix: 'moved:', logger: silentLogger });
    const writers = new Writers(storage, 'moved');
    await expect.poll(() => writers.accepted.length).toBeGreaterThan(200);
    const [from, to] = (await cluster.nodes()).filter(({ isPrimary }) => isPrimary);
    if (from === undefined || to === undefined) throw new Error('The cluster has no primaries');
    await cluster.reshard(from, to, 1_000);
    const before = writers.accepted.length;
    await expect.poll(() => writers.accepted.length, { timeout: 20_000 }).toBeGreaterThan(before + 200);
    await writers.stop();
    expect(writers.failures).toEqual([]);
    expect(await missingTasks(storage, writers.accepted)).toEqual([]);
    await storage.close();
  }, 60_000);

  it('waits while two servers redirect a command to each other', async () => {
    const storage = await openRedisStorage({ url: cluster.url, prefix: 'half:', logger: silentLogger });
    const { scope, slot } = await emptyPartition();
    const endMove = await cluster.beginMove(slot);
    const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: '2026-01-01T00:00:00.000Z' };
    const task = { id: 'half', contextId: 'c', status, history: [userMessage('x')] };
    const accepted = storage.accept(acceptance(userMessage('x'), task, { scope }));
    // Much longer than the time between two commands of a real move, even under load.
    const ended = new Promise((resolve) => setTimeout(resolve, 1_500)).then(endMove);
    await Promise.all([accepted, ended]);
    expect(await missingTasks(storage, [{ scope, id: 'half' }])).toEqual([]);
    await storage.close();
  }, 60_000);

  it('accepts tasks again after a primary was killed, and settles every call', async () => {
    const waits = { commandTimeoutMs: 1_000, connectTimeoutMs: 1_000 };
    const storage = await openRedisStorage({ url: cluster.url, prefix: 'failed:', logger: silentLogger, ...waits });
    const writers = new Writers(storage, 'failed');
    await expect.poll(() => writers.accepted.length).toBeGreaterThan(200);
    const primary = (await cluster.nodes()).find(({ isPrimary }) => isPrimary);
    await primary?.server.kill();
    // Each user has a task that was accepted after the failover.
    const before = writers.accepted.length;
    const countOwners = () => new Set(writers.accepted.slice(before + 200).map(({ scope }) => scope.owner)).size;
    await expect.poll(countOwners, { timeout: 30_000 }).toBe(OWNERS.length);
    await writers.stop();
    for (const error of writers.failures) expect(error).toBeInstanceOf(StorageError);
    const after = writers.accepted.slice(-50);
    expect(await missingTasks(storage, after)).toEqual([]);
    await storage.close();
  }, 60_000);
});
