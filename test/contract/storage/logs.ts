import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../../packages/parley/src/task/task-builder.js';
import { ALICE, acceptance, claimsOf, LEASE, newTask, only, type Step, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

const KEY = { scope: ALICE, id: 't1' };

async function wholeLog(storage: TaskStorage, maxBytes: number, key = KEY): Promise<readonly LogRecord[]> {
  const log: LogRecord[] = [];
  for (;;) {
    const { records, last } = await storage.records(key, log.at(-1)?.seq ?? 0, maxBytes);
    log.push(...records);
    if (records.length === 0 || records.at(-1)?.seq === last) return log;
  }
}

/** The contract that a task equals its log, and of reads of the log. */
export function logsContract(open: OpenStorage): void {
  describe('a log', () => {
    const tested = useStorage(open);

    it('is read from any place, by size, at least one record at a time', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const texts = ['a', 'b'.repeat(1_000), 'c', 'd', 'e'.repeat(2_000)];
      await play.write(texts.map((text, index) => play.chunk(text, index > 0)));
      const { records } = await storage.records(KEY, 0, 1_000_000);
      expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      const sizes = records.map(({ text }) => text.length);
      const seqs = async (after: number, maxBytes: number) =>
        (await storage.records(KEY, after, maxBytes)).records.map(({ seq }) => seq);
      expect(await seqs(0, 0)).toEqual([1]);
      expect(await seqs(2, 10)).toEqual([3]);
      const [, , third = 0, fourth = 0, fifth = 0] = sizes;
      expect(await seqs(2, third + fourth + fifth)).toEqual([3, 4, 5]);
      expect(await seqs(2, third + fourth + fifth - 1)).toEqual([3, 4]);
      expect(await seqs(6, 1_000)).toEqual([]);
      expect(await seqs(60, 1_000)).toEqual([]);
    });

    it('tells its floor and its end, also where nothing is read', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_WORKING']);
      expect(await storage.records(KEY, 2, 100)).toEqual({ records: [], floor: 1, last: 2 });
      expect(await storage.records({ scope: ALICE, id: 'unknown' }, 0, 100)).toEqual({
        records: [],
        floor: 1,
        last: 0,
      });
    });

    it('is read whole in large amounts', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      for (let at = 0; at < 20; at += 1) {
        await play.write(
          [...Array(10)].map(() => play.chunk('x'.repeat(5_000))),
          { withSnapshot: at % 7 === 3 },
        );
      }
      expect((await storage.records(KEY, 0, 100_000_000)).records).toHaveLength(201);
      expect(await wholeLog(storage, 1_200_000)).toHaveLength(201);
      expect(await wholeLog(storage, 600_000)).toHaveLength(201);
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
    });

    it('goes on behind statuses and metadata of any size', async () => {
      const { storage } = tested;
      const metadata = { large: 'm'.repeat(20_000) };
      const play = await TaskPlay.begin(tested, 't1');
      for (const size of [10, 20_000, 10]) {
        const event = play.status('TASK_STATE_WORKING', { message: userMessage(`s${play.seq}`, 's'.repeat(size)) });
        await play.write([{ event, extras: { metadata } }, play.chunk('x')]);
        await play.write([play.chunk('y')]);
        expect(await storage.task(ALICE, 't1')).toMatchObject({ seq: play.seq, task: play.task, running: true });
      }
      await storage.accept(acceptance(userMessage('m2'), 't1'));
      expect(await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 })).toBe(1);
    });

    it('keeps every character', async () => {
      const { storage } = tested;
      const odd = 'a\u0000b\u2028"\\\ud83d\ude00\ud800 \u007f\n';
      const play = await TaskPlay.begin(tested, 't1');
      await play.write([
        play.chunk(odd, false),
        play.status('TASK_STATE_INPUT_REQUIRED', { message: userMessage('m', odd) }),
      ]);
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
      const log = await wholeLog(storage, 1_000_000);
      expect(log[1]?.event).toEqual(play.chunk(odd, false));
    });
  });

  describe('a log and its snapshots', () => {
    const tested = useStorage(open);

    it('the stored task is the fold of its records, wherever snapshots were taken (Spec §3.1.3)', async () => {
      const step = fc.oneof(
        fc.record({ chunk: fc.string({ maxLength: 4 }), append: fc.boolean() }),
        fc.record({
          state: fc.constantFrom('TASK_STATE_WORKING' as const, 'TASK_STATE_AUTH_REQUIRED' as const),
          say: fc.boolean(),
        }),
        fc.record({
          metadata: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer()),
          hears: fc.constantFrom('x', 'y'),
        }),
      );
      const appends = fc.array(fc.tuple(fc.array(step, { minLength: 1, maxLength: 4 }), fc.boolean()), {
        maxLength: 8,
      });
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(appends, fc.boolean(), async (script, ends) => {
          const { storage, clock } = tested;
          runs += 1;
          const scope = { ...ALICE, owner: `owner ${runs}` };
          const play = await TaskPlay.begin(tested, `t${runs}`, { scope });
          for (const [steps, withSnapshot] of script) {
            clock.pass(1);
            await play.write(
              steps.map((one, index) => toStep(play, one, index)),
              { withSnapshot },
            );
            expect((await storage.task(scope, play.id))?.task).toEqual(play.task);
          }
          if (ends) await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
          const stored = await storage.task(scope, play.id);
          const log = await wholeLog(storage, 300, play.key);
          expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
          const [first, ...rest] = log;
          if (first === undefined || first.event.task === undefined)
            throw new Error('The log does not begin with the task');
          expect(TaskBuilder.fold(first.event.task, rest)).toEqual(stored?.task);
          expect(stored).toMatchObject({ seq: play.seq, task: play.task });
          const listTask = async (artifacts: boolean, history: boolean) =>
            only((await storage.tasks({ scope, orderBy: 'status', limit: 5, artifacts, history })).tasks).task;
          const { artifacts: _, ...withoutArtifacts } = play.task;
          const { history: __, ...bare } = withoutArtifacts;
          expect(await listTask(true, true)).toEqual(play.task);
          expect(await listTask(false, true)).toEqual(withoutArtifacts);
          expect(await listTask(false, false)).toEqual(bare);
        }),
      );
    });
  });

  describe('from outside', () => {
    const tested = useStorage(open);

    it('a created task has one record that shows it', async () => {
      const { storage, clock } = tested;
      const task = newTask(tested, 't1', { artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }] });
      expect(await storage.create(ALICE, task)).toBe(true);
      expect(await storage.task(ALICE, 't1')).toEqual({
        scope: ALICE,
        task,
        seq: 1,
        epoch: 0,
        running: false,
        heldTurn: 0,
        createdAt: clock.now(),
      });
      expect(only((await storage.records(KEY, 0, 1_000)).records)).toMatchObject({ seq: 1, turn: 0, event: { task } });
    });

    it('a created task may have ended already, and need no context and no time', async () => {
      const { storage } = tested;
      const task = { id: 't1', status: { state: 'TASK_STATE_COMPLETED' as const } };
      expect(await storage.create(ALICE, task)).toBe(true);
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(task);
      expect(await storage.requestCancel(ALICE, 't1', {})).toMatchObject({ kind: 'terminal' });
    });

    it('a task is not created over another one', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      const both = await Promise.all([
        storage.create(ALICE, newTask(tested, 't1')),
        storage.create(ALICE, newTask(tested, 't2')),
        storage.create(ALICE, newTask(tested, 't2', { metadata: { second: true } })),
      ]);
      expect(both).toEqual([false, true, false]);
      expect((await storage.task(ALICE, 't2'))?.task).not.toHaveProperty('metadata');
    });

    it('a deleted task is gone with its log, its waiting messages and its configurations', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.push.putConfig(ALICE, { id: 'p', taskId: 't1', url: 'https://example.com' });
      expect(await storage.delete(ALICE, 't1')).toBe('running');
      await storage.release({ ...play.held, attempt: 1 }, 'again');
      expect(await storage.delete(ALICE, 't1')).toBe('deleted');
      expect(await storage.delete(ALICE, 't1')).toBe('not-found');
      expect(await storage.task(ALICE, 't1')).toBeUndefined();
      expect(await storage.records(KEY, 0, 100)).toEqual({ records: [], floor: 1, last: 0 });
      expect(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9 })).toEqual([]);
      expect(
        await storage.tasks({ scope: ALICE, orderBy: 'created', limit: 9, artifacts: true, history: true }),
      ).toEqual({
        tasks: [],
        total: 0,
      });
      expect(await storage.create(ALICE, newTask(tested, 't1'))).toBe(true);
      expect(await storage.push.configs(ALICE, 't1', { limit: 9 })).toEqual([]);
    });

    it('a task whose turn was lost can be deleted', async () => {
      await TaskPlay.begin(tested, 't1');
      tested.clock.pass(LEASE.leaseMs);
      expect(await tested.storage.delete(ALICE, 't1')).toBe('deleted');
    });
  });
}

type RandomStep =
  | { readonly chunk: string; readonly append: boolean }
  | { readonly state: 'TASK_STATE_WORKING' | 'TASK_STATE_AUTH_REQUIRED'; readonly say: boolean }
  | { readonly metadata: Readonly<Record<string, number>>; readonly hears: string };

function toStep(play: TaskPlay, step: RandomStep, index: number): Step {
  if ('chunk' in step) return play.chunk(step.chunk, step.append);
  if ('state' in step) return play.status(step.state, step.say ? { message: userMessage(`s${play.seq + index}`) } : {});
  return {
    event: play.status('TASK_STATE_WORKING'),
    extras: { metadata: step.metadata, history: [userMessage(step.hears)] },
  };
}
