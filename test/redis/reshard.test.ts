import { expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { RedisStorage } from '../../packages/parley/src/store/redis/redis-storage.js';
import type { Scope } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { TaskPlay } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';

const WRITERS = 8;
const OWNERS = 320;
/** A few partitions lie in so many slots. */
const SLOTS = process.env.TEST_LONG === '1' ? 3_000 : 400;

it('tasks go on while slots of their cluster move, and stay whole', { timeout: 300_000 }, async () => {
  await using cluster = await RedisCluster.start();
  const options = { url: cluster.url, prefix: 'moved:', clock: systemClock, ids: systemIds, logger: silentLogger };
  const storage = await RedisStorage.open(options);
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
