import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../packages/parley/src/store/task-key.js';
import type { Swept } from '../../../packages/parley/src/store/task-storage.js';
import { ALICE, acceptance, LEASE, newTask, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, type Tested, useStorage } from './tested-storage.js';

/** Tasks and event logs that ended before these times are deleted. */
interface SweepTimes {
  readonly finishedBefore?: number;
  readonly eventLogsBefore?: number;
  readonly limit?: number;
}

function sweepBefore({ storage, clock }: Tested, before: SweepTimes): Promise<Swept> {
  const { finishedBefore = 0, eventLogsBefore = 0, limit = 1_000 } = before;
  const now = clock.now();
  return storage.sweep({ taskRetentionMs: now - finishedBefore, eventLogMs: now - eventLogsBefore, limit });
}

/** The contract of retention, and of tasks that wait too long. */
export function keepingContract(open: OpenStorage): void {
  describe('a sweep', () => {
    const tested = useStorage(open);
    const sweep = (before: SweepTimes) => sweepBefore(tested, before);
    const playFinished = async (id: string, records = 1, scope: Scope = ALICE) => {
      const play = await TaskPlay.begin(tested, id, { scope });
      await play.write([...Array(records - 1)].map(() => play.chunk('x')).concat(play.status('TASK_STATE_COMPLETED')));
      return play;
    };

    it('removes the logs of tasks that ended before a time, and the tasks stay', async () => {
      const { storage, clock } = tested;
      const early = await playFinished('early', 3);
      clock.pass(10);
      const late = await playFinished('late', 2);
      const running = await TaskPlay.begin(tested, 'running');
      expect(await sweep({ eventLogsBefore: clock.now() })).toEqual({ tasks: 0, records: 4, keys: 0, more: false });
      expect(await storage.records(early.key, 0, 1_000)).toEqual({ records: [], floor: 5, last: 4 });
      expect(await storage.records(early.key, 4, 1_000)).toEqual({ records: [], floor: 5, last: 4 });
      expect((await storage.task(ALICE, 'early'))?.task).toEqual(early.task);
      expect((await storage.records(late.key, 0, 10_000)).records).toHaveLength(3);
      expect((await storage.records(running.key, 0, 10_000)).floor).toBe(1);
      expect(await sweep({ eventLogsBefore: clock.now() })).toEqual({ tasks: 0, records: 0, keys: 0, more: false });
      expect(await sweep({ eventLogsBefore: clock.now() + 1 })).toMatchObject({ records: 3 });
    });

    it('shows a swept task in lists as before', async () => {
      const { storage, clock } = tested;
      const play = await playFinished('t1', 3);
      const page = { scope: ALICE, orderBy: 'status' as const, limit: 5, artifacts: true, history: true };
      const before = await storage.tasks(page);
      await sweep({ eventLogsBefore: clock.pass(1) });
      expect(await storage.tasks(page)).toEqual(before);
      expect(before.tasks[0]?.task).toEqual(play.task);
      const { artifacts: _, history: __, ...bare } = play.task;
      expect((await storage.tasks({ ...page, artifacts: false, history: false })).tasks[0]?.task).toEqual(bare);
    });

    it('removes tasks that ended before a time, with all that hangs on them', async () => {
      const { storage, clock } = tested;
      await playFinished('early');
      await storage.push.putConfig(ALICE, { id: 'p', taskId: 'early', url: 'https://example.com' });
      clock.pass(10);
      await playFinished('late');
      await TaskPlay.begin(tested, 'running');
      clock.pass(1);
      expect(await sweep({ finishedBefore: clock.now() - 5 })).toMatchObject({ tasks: 1, more: false });
      expect(await storage.task(ALICE, 'early')).toBeUndefined();
      expect(await storage.records({ scope: ALICE, id: 'early' }, 0, 100)).toEqual({ records: [], floor: 1, last: 0 });
      const page = await storage.tasks({ scope: ALICE, orderBy: 'status', limit: 9, artifacts: false, history: false });
      expect(page).toMatchObject({ total: 2, tasks: [{ task: { id: 'running' } }, { task: { id: 'late' } }] });
      expect(await storage.create(ALICE, newTask(tested, 'early'))).toBe(true);
      expect(await storage.push.configs(ALICE, 'early', { limit: 9 })).toEqual([]);
      expect((await storage.records({ scope: ALICE, id: 'early' }, 0, 1_000)).records).toHaveLength(1);
    });

    it('counts the time of the end by the clock of the storage', async () => {
      const { clock } = tested;
      const status = { state: 'TASK_STATE_COMPLETED' as const };
      await tested.storage.create(ALICE, newTask(tested, 'timeless', { status }));
      expect(await sweep({ finishedBefore: clock.now() })).toMatchObject({ tasks: 0 });
      expect(await sweep({ finishedBefore: clock.now() + 1 })).toMatchObject({ tasks: 1 });
    });

    it('removes so much at most, says that there is more, and goes on where it stopped', async () => {
      const { storage, clock } = tested;
      const plays = [await playFinished('t1', 10), await playFinished('t2', 10)];
      clock.pass(1);
      const all = { finishedBefore: clock.now(), eventLogsBefore: clock.now(), limit: 8 };
      expect(await sweep(all)).toEqual({ tasks: 0, records: 8, keys: 0, more: true });
      const [first] = plays;
      if (first === undefined) throw new Error('There is no first task');
      const half = await storage.records(first.key, 0, 10_000);
      expect({ floor: half.floor, seqs: half.records.map(({ seq }) => seq) }).toEqual({ floor: 9, seqs: [9, 10, 11] });
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(first.task);
      const rest = [];
      for (;;) {
        const swept = await sweep(all);
        rest.push(swept);
        expect(swept.tasks + swept.records).toBeLessThanOrEqual(8);
        if (!swept.more) break;
      }
      expect(rest.reduce((sum, { records }) => sum + records, 0)).toBe(14);
      expect(rest.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(2);
      expect(await storage.task(ALICE, 't1')).toBeUndefined();
    });

    it('removes keys that have expired, in whatever order', async () => {
      const { storage, clock } = tested;
      const entry = { digest: 'd', outcome: { reply: userMessage('r') } };
      for (const [index, life] of [500, 100, 300].entries()) {
        await storage.keys.remember(ALICE, { key: `k${index}`, digest: 'd', ttlMs: life }, userMessage('r'));
      }
      clock.pass(100);
      expect(await sweep({})).toMatchObject({ keys: 1 });
      clock.pass(300);
      expect(await sweep({})).toMatchObject({ keys: 1 });
      expect(await storage.keys.recall(ALICE, 'k0')).toEqual(entry);
      expect(await storage.keys.recall(ALICE, 'k2')).toBeUndefined();
    });

    it('leaves the tasks of other times alone when their clocks differ', async () => {
      const { storage, clock } = tested;
      await playFinished('t1');
      clock.pass(-5);
      await playFinished('t2');
      clock.pass(20);
      expect(await sweep({ finishedBefore: clock.now() })).toMatchObject({ tasks: 2 });
      expect(await storage.task(ALICE, 't2')).toBeUndefined();
    });
  });

  describe('a clock that was ahead and is put right', () => {
    const tested = useStorage(open);

    it('keeps nothing for longer than if it had ended when the clock was put right', async () => {
      const { storage, clock } = tested;
      const year = 365 * 86_400_000;
      const playFinished = async (id: string) => {
        const play = await TaskPlay.begin(tested, id);
        await play.write(['TASK_STATE_COMPLETED']);
        return play;
      };
      const before = await playFinished('before');
      clock.pass(year);
      const ahead = await playFinished('ahead');
      clock.pass(-year);
      const after = await playFinished('after');
      const sweep = (before: SweepTimes) => sweepBefore(tested, before);
      await sweep({});
      clock.pass(10);
      expect(await sweep({ eventLogsBefore: clock.now() })).toMatchObject({ records: 6, tasks: 0 });
      for (const play of [before, ahead, after]) expect((await storage.records(play.key, 0, 1_000)).floor).toBe(3);
      expect(await sweep({ finishedBefore: clock.now() })).toMatchObject({ tasks: 3 });
    });
  });

  describe('the logs of finished tasks, when they take more than they may,', () => {
    const tested = useStorage(open, { eventLogBytes: 25_000 });
    const playFinished = async (id: string) => {
      const play = await TaskPlay.begin(tested, id);
      // Only the log contains the first artifact, because the second one replaces it.
      await play.write([play.chunk('x'.repeat(10_000), false), play.chunk('y', false), 'TASK_STATE_COMPLETED']);
      return play;
    };
    const countKept = async (plays: readonly TaskPlay[]) => {
      // A shared storage removes them with its next sweep.
      await sweepBefore(tested, {});
      const pages = await Promise.all(plays.map(({ key }) => tested.storage.records(key, 0, 1_000_000)));
      return pages.map(({ records, floor }) => [records.length, floor]);
    };

    it('go before their time, those of the tasks that ended first; the tasks stay', async () => {
      const { storage } = tested;
      const plays = [await playFinished('1'), await playFinished('2'), await playFinished('3')];
      const running = await TaskPlay.begin(tested, 'running');
      await running.write([running.chunk('x'.repeat(10_000), false)]);
      expect(await countKept([...plays, running])).toEqual([
        [0, 5],
        [4, 1],
        [4, 1],
        [2, 1],
      ]);
      for (const play of plays) expect((await storage.task(ALICE, play.id))?.task).toEqual(play.task);
    });

    it('leave room when they are swept or deleted', async () => {
      const { storage, clock } = tested;
      const [first, second] = [await playFinished('1'), await playFinished('2')];
      clock.pass(10);
      await storage.delete(ALICE, '1');
      const third = await playFinished('3');
      expect(await countKept([second, third])).toEqual([
        [4, 1],
        [4, 1],
      ]);
      await sweepBefore(tested, { eventLogsBefore: clock.now() });
      const fourth = await playFinished('4');
      expect(await countKept([first, second, third, fourth])).toEqual([
        [0, 1],
        [0, 5],
        [4, 1],
        [4, 1],
      ]);
    });
  });

  describe('an abandoned task', () => {
    const tested = useStorage(open);

    it('waits for its caller since before a time, and nobody has written to it', async () => {
      const { storage, clock } = tested;
      const playWaiting = async (
        id: string,
        state: 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_AUTH_REQUIRED',
        scope = ALICE,
      ) => {
        const play = await TaskPlay.begin(tested, id, { scope });
        clock.pass(10);
        await play.write([play.chunk('x', false), state], { endsTurn: 1 });
        return play;
      };
      const first = await playWaiting('first', 'TASK_STATE_INPUT_REQUIRED');
      await playWaiting('second', 'TASK_STATE_AUTH_REQUIRED', { ...ALICE, tenant: 'x', owner: 'bob' });
      await playWaiting('other agent', 'TASK_STATE_INPUT_REQUIRED', { ...ALICE, agent: 'other' });
      await playWaiting('answered', 'TASK_STATE_INPUT_REQUIRED');
      await storage.accept(acceptance(userMessage('answer'), 'answered'));
      const ended = await playWaiting('ended', 'TASK_STATE_INPUT_REQUIRED');
      await ended.write(['TASK_STATE_CANCELED'], { authority: 'idle' });
      await TaskPlay.begin(tested, 'running');
      const edge = clock.pass(10);
      await playWaiting('late', 'TASK_STATE_INPUT_REQUIRED');
      const found = await storage.abandoned(['test', 'third'], clock.now() - (edge + 10), 10);
      expect(found.map(({ task }) => task.id)).toEqual(['first', 'second']);
      expect(found[0]).toEqual(await storage.task(ALICE, 'first'));
      expect(found[0]?.task).toEqual(first.task);
      expect(found[1]?.scope).toEqual({ ...ALICE, tenant: 'x', owner: 'bob' });
      expect(await storage.abandoned(['test'], clock.now() - (edge + 11), 1)).toHaveLength(1);
      expect(await storage.abandoned([], clock.now() - edge, 10)).toEqual([]);
    });

    it('comes the sooner the longer it has waited, whatever came before', async () => {
      const { storage, clock } = tested;
      const plays = [await TaskPlay.begin(tested, 't1'), await TaskPlay.begin(tested, 't2')];
      for (const play of plays) {
        clock.pass(1);
        await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      }
      clock.pass(1);
      await plays[0]?.write(['TASK_STATE_INPUT_REQUIRED'], { authority: 'idle' });
      const found = await storage.abandoned(['test'], -clock.pass(1) + clock.now(), 10);
      expect(found.map(({ task }) => task.id)).toEqual(['t2', 't1']);
    });

    it('is none any more once it goes on', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      clock.pass(1);
      expect(await storage.abandoned(['test'], 0, 9)).toHaveLength(1);
      await storage.accept(acceptance(userMessage('m2'), 't1', { claim: LEASE }));
      expect(await storage.abandoned(['test'], 0, 9)).toEqual([]);
    });
  });
}

/** The contract of idempotency keys in a storage that processes share. */
export function sharedKeysContract(name: string, open: OpenStorage): void {
  describe(`the keys of a shared ${name} storage`, () => {
    const tested = useStorage(open);

    it('stay until they expire, however large they are together', async () => {
      const { storage, clock } = tested;
      const text = 'x'.repeat(1_048_576);
      const keys = Array.from({ length: 70 }, (_, index) => `k${index}`);
      for (const key of keys) await storage.keys.remember(ALICE, { key, digest: key, ttlMs: 500 }, userMessage(text));
      clock.pass(499);
      expect(await sweepBefore(tested, {})).toMatchObject({ keys: 0 });
      const known: (string | undefined)[] = [];
      for (const key of keys) known.push((await storage.keys.recall(ALICE, key))?.digest);
      expect(known).toEqual(keys);
      clock.pass(1);
      expect(await sweepBefore(tested, {})).toMatchObject({ keys: 70, more: false });
    });
  });
}
