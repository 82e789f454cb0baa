import { Redis } from 'ioredis';
import { afterAll, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { partitionOf } from '../../packages/parley/src/store/partition.js';
import type { Scope } from '../../packages/parley/src/store/task-key.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { ALICE, TaskPlay } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';

const WRITERS = 8;
const OWNERS = 320;
/** Number of moved slots, enough for a few partitions. */
const SLOTS = process.env.TEST_LONG === '1' ? 3_000 : 400;

const cluster = await RedisCluster.start();
afterAll(() => cluster[Symbol.asyncDispose]());

function open(prefix: string): Promise<RedisStorage> {
  const options = { url: cluster.url, prefix, clock: systemClock, ids: systemIds, logger: silentLogger };
  return RedisStorage.open(options);
}

it('tasks are written while slots of their cluster move, and stay complete', { timeout: 300_000 }, async () => {
  const storage = await open('moved:');
  const tested = { storage, clock: new StorageClock() };
  const plays: TaskPlay[] = [];
  const counts = new Map<Scope, number>();
  const scopes = Array.from({ length: OWNERS }, (_, at): Scope => ({ agent: 'a', tenant: '', owner: `owner ${at}` }));
  let isMoving = true;

  const write = async (writer: number) => {
    for (let at = writer; isMoving; at += WRITERS) {
      const scope = scopes[at % OWNERS] as Scope;
      const play = await TaskPlay.begin(tested, `task ${at}`, { scope });
      plays.push(play);
      counts.set(scope, (counts.get(scope) ?? 0) + 1);
      await play.write(['TASK_STATE_WORKING']);
      await play.write([play.chunk('a', false)]);
      await play.write([play.chunk('b')]);
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
    }
  };
  const written = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  const [first, second] = (await cluster.nodes()).filter(({ isPrimary }) => isPrimary);
  if (first === undefined || second === undefined) throw new Error('The cluster has no two primaries');
  await cluster.reshard(first, second, SLOTS).finally(() => {
    isMoving = false;
  });
  await written;

  for (const play of plays) {
    expect(await storage.task(play.scope, play.id)).toMatchObject({ seq: 5, task: play.task });
    const { records, floor, last } = await storage.records(play.key, 0, 1_000_000);
    expect({ seqs: records.map(({ seq }) => seq), floor, last }).toEqual({ seqs: [1, 2, 3, 4, 5], floor: 1, last: 5 });
  }
  for (const [scope, total] of counts) {
    const page = { scope, orderBy: 'status' as const, limit: 1, artifacts: false, history: false };
    expect(await storage.tasks(page)).toMatchObject({ total });
    expect(await storage.tasks({ ...page, states: ['TASK_STATE_COMPLETED'] })).toMatchObject({ total });
  }
  await storage.close();
});

it.each(['log:', 'state:', 't:'])(
  'nothing is written while only the keys %s of a slot have moved',
  {
    timeout: 60_000,
  },
  async (moved) => {
    const prefix = `half ${moved}`;
    const storage = await open(prefix);
    const tested = { storage, clock: new StorageClock() };
    const play = await TaskPlay.begin(tested, 't1');
    await play.write(['TASK_STATE_WORKING', play.chunk('a', false)]);
    const tag = `${prefix}{p${partitionOf(ALICE)}}`;

    const any = new Redis(cluster.servers[0]?.port ?? 0);
    const slot = (await any.cluster('KEYSLOT', tag)) as number;
    any.disconnect();
    const from = await cluster.primaryOf(slot);
    const to = (await cluster.nodes()).find(({ id, isPrimary }) => isPrimary && id !== from.id);
    if (to === undefined) throw new Error('The cluster has one primary');
    const [source, target] = [new Redis(from.server.port), new Redis(to.server.port)];
    const move = async (isMoved: (key: string) => boolean) => {
      const keys = (await source.cluster('GETKEYSINSLOT', slot, 1_000)) as string[];
      for (const key of keys.filter(isMoved)) await source.migrate('127.0.0.1', to.server.port, key, 0, 5_000);
    };
    await target.cluster('SETSLOT', slot, 'IMPORTING', from.id);
    await source.cluster('SETSLOT', slot, 'MIGRATING', to.id);
    await move((key) => key.startsWith(`${tag}${moved}`));

    const draft = play.draft([play.chunk('b'), 'TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
    const failed = { status: 'rejected', reason: { name: 'StorageError' } };
    const answers = Promise.allSettled([
      storage.append(draft),
      storage.task(ALICE, 't1'),
      storage.create(ALICE, { id: 'new', status: { state: 'TASK_STATE_COMPLETED' } }),
    ]);
    expect(await answers).toMatchObject([failed, failed, failed]);

    await move(() => true);
    for (const server of [target, source]) await server.cluster('SETSLOT', slot, 'NODE', to.id);
    expect(await storage.append(draft)).toEqual({ kind: 'appended', waiting: 0 });
    expect(await storage.task(ALICE, 't1')).toMatchObject({ seq: 5, task: play.whole(draft), heldTurn: 0 });
    const { records, floor } = await storage.records(play.key, 0, 1_000_000);
    expect({ seqs: records.map(({ seq }) => seq), floor }).toEqual({ seqs: [1, 2, 3, 4, 5], floor: 1 });
    const page = { scope: ALICE, orderBy: 'status' as const, limit: 5, artifacts: false, history: false };
    // The new task may be created after its call has failed, but never in part.
    await expect
      .poll(async () => {
        const created = await storage.task(ALICE, 'new');
        const { tasks, total } = await storage.tasks(page);
        return { total, ids: tasks.map(({ task }) => task.id).sort(), isCreated: created !== undefined };
      })
      .toSatisfy(
        ({ total, ids, isCreated }) => total === ids.length && ids.includes('t1') && ids.includes('new') === isCreated,
      );
    source.disconnect();
    target.disconnect();
    await storage.close();
  },
);
