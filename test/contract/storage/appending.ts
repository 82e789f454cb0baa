import { describe, expect, it } from 'vitest';
import { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { ALICE, acceptance, claimsOf, ELSEWHERE, LEASE, newTask, only, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of appends and of their permission. */
export function appendingContract(open: OpenStorage): void {
  describe('appending', () => {
    const tested = useStorage(open);

    it('makes the records and the task visible together', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      clock.pass(5);
      const working = play.status('TASK_STATE_WORKING', { message: { ...userMessage('w'), role: 'ROLE_AGENT' } });
      expect(await play.write([{ event: working, extras: { metadata: { a: 1 } } }, play.chunk('x', false)])).toBe(0);
      const stored = await storage.task(ALICE, 't1');
      expect(stored).toMatchObject({ seq: 3, epoch: 1, running: true });
      expect(stored?.task).toEqual(play.task);
      const { records, last } = await storage.records(play.key, 1, 10_000);
      expect(last).toBe(3);
      expect(records.map(({ seq, turn }) => [seq, turn])).toEqual([
        [2, 1],
        [3, 1],
      ]);
      expect(records[0]).toMatchObject({ event: working, metadata: { a: 1 }, history: undefined });
    });

    it('keeps the messages that enter the history with a record', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write([{ event: play.status('TASK_STATE_WORKING'), extras: { history: [userMessage('m2')] } }]);
      expect((await storage.task(ALICE, 't1'))?.task.history).toEqual([userMessage('first of t1'), userMessage('m2')]);
      const { records } = await storage.records(play.key, 1, 10_000);
      expect(only(records).history).toEqual([userMessage('m2')]);
    });

    it('is refused after the sequence has moved, at once and later', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      const other = play.draft(['TASK_STATE_INPUT_REQUIRED']);
      const outcomes = await Promise.all([play.write(['TASK_STATE_WORKING']), tested.storage.append(other)]);
      expect(outcomes).toEqual([0, { kind: 'fenced' }]);
      expect(await tested.storage.append(other)).toEqual({ kind: 'fenced' });
      expect(await tested.storage.append(play.draft([], { after: 7 }))).toEqual({ kind: 'fenced' });
      expect((await tested.storage.task(ALICE, 't1'))?.seq).toBe(2);
    });

    it('is answered as before when a turn repeats its last one, and writes nothing twice', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.accept(acceptance(userMessage('next'), 't1'));
      const first = play.draft(['TASK_STATE_WORKING', play.chunk('x', false)]);
      for (const _ of [1, 2, 3]) expect(await storage.append(first)).toEqual({ kind: 'appended', waiting: 1 });
      expect(await storage.append({ ...first, authority: 'idle' })).toEqual({ kind: 'running' });
      expect(await storage.append({ ...first, authority: 'force' })).toEqual({ kind: 'fenced' });
      expect(await storage.append({ ...first, authority: play.epoch + 1 })).toEqual({ kind: 'fenced' });
      expect(await storage.append({ ...first, after: 2, records: first.records.slice(1) })).toEqual({
        kind: 'appended',
        waiting: 1,
      });
      expect((await storage.records(play.key, 0, 10_000)).records).toHaveLength(3);

      const next = await TaskPlay.begin(tested, 't2');
      const last = next.draft(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      const whole = { ...last, snapshot: next.whole(last) };
      for (const _ of [1, 2]) expect(await storage.append(whole)).toEqual({ kind: 'appended', waiting: 0 });
      expect(await storage.task(ALICE, 't2')).toMatchObject({ seq: 2, task: { status: last.head.status } });
      const page = { scope: ALICE, orderBy: 'status' as const, limit: 0, artifacts: false, history: false };
      expect((await storage.tasks({ ...page, states: ['TASK_STATE_COMPLETED'] })).total).toBe(1);
    });

    it('is refused to an overtaken writer, even one that knows the sequence', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const draft = play.draft(['TASK_STATE_WORKING']);
      clock.pass(LEASE.leaseMs);
      const takeover = only(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 1 }));
      expect(await storage.append(draft)).toEqual({ kind: 'fenced' });
      expect(await storage.append({ ...draft, authority: takeover.epoch + 1 })).toEqual({ kind: 'fenced' });
      expect((await storage.append({ ...draft, authority: takeover.epoch })).kind).toBe('appended');
    });

    it('is open to a writer whose lease has ended, as long as nobody has overtaken it', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      tested.clock.pass(LEASE.leaseMs * 2);
      await play.write(['TASK_STATE_WORKING']);
    });

    it.each(['done', 'again'] as const)('is refused after the turn was released (%s)', async (how) => {
      const play = await TaskPlay.begin(tested, 't1');
      await tested.storage.release({ ...play.held, attempt: 1 }, how);
      expect(await play.send(play.draft(['TASK_STATE_WORKING']))).toEqual({ kind: 'fenced' });
    });

    it('is refused after the end, whoever asks, and for a task that is not there', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_FAILED'], { endsTurn: 1 });
      for (const authority of [play.epoch, 'idle', 'force'] as const) {
        const outcome = await play.send(play.draft(['TASK_STATE_WORKING'], { authority }));
        expect(outcome).toEqual({ kind: 'terminal' });
      }
      const elsewhere = play.draft(['TASK_STATE_WORKING'], { key: { scope: ALICE, id: 'unknown' } });
      expect(await tested.storage.append(elsewhere)).toEqual({ kind: 'not-found' });
      const otherAgent = play.draft(['TASK_STATE_WORKING'], { key: { scope: { ...ALICE, agent: 'other' }, id: 't1' } });
      expect(await tested.storage.append(otherAgent)).toEqual({ kind: 'not-found' });
    });

    it('from outside is open only while no turn holds a lease', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const draft = () => play.draft(['TASK_STATE_WORKING'], { authority: 'idle' });
      expect(await play.send(draft())).toEqual({ kind: 'running' });
      clock.pass(LEASE.leaseMs - 1);
      expect(await play.send(draft())).toEqual({ kind: 'running' });
      clock.pass(1);
      expect(await play.send(draft())).toEqual({ kind: 'appended', waiting: 0 });
      await storage.release({ ...play.held, attempt: 1 }, 'done');
      expect(await play.send(draft())).toEqual({ kind: 'appended', waiting: 0 });
      expect(await storage.append({ ...draft(), after: 1, records: [] })).toEqual({ kind: 'fenced' });
      expect(await storage.task(ALICE, 't1')).toMatchObject({ seq: 3, epoch: 1 });
    });

    it('by force overtakes the turn that runs, which waits to be claimed again', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      expect(await play.send(play.draft([], { authority: 'force', after: 9 }))).toEqual({
        kind: 'fenced',
      });
      expect(await play.send(play.draft(['TASK_STATE_WORKING'], { authority: 'force' }))).toEqual({
        kind: 'appended',
        waiting: 1,
      });
      expect(await storage.task(ALICE, 't1')).toMatchObject({ seq: 2, epoch: 2, running: false });
      expect(await play.send(play.draft(['TASK_STATE_COMPLETED']))).toEqual({ kind: 'fenced' });
      expect(await storage.renew({ ...LEASE, turns: [play.held] })).toEqual([{ held: false }]);
      const again = only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 1 }));
      expect(again).toMatchObject({ turn: 1, attempt: 2, epoch: 3, seq: 2 });
    });

    it('by force works on an idle task too', async () => {
      await tested.storage.create(ALICE, newTask(tested, 't1'));
      const stored = await tested.storage.task(ALICE, 't1');
      if (stored === undefined) throw new Error('The task was not created');
      const play = new TaskPlay(tested, stored);
      const written = { kind: 'appended', waiting: 0 };
      expect(await play.send(play.draft([play.chunk('x', false)], { authority: 'force' }))).toEqual(written);
      expect(await tested.storage.task(ALICE, 't1')).toMatchObject({ seq: 2, epoch: 1 });
      expect(await play.send(play.draft(['TASK_STATE_CANCELED'], { authority: 'force' }))).toEqual(written);
      expect(await tested.storage.task(ALICE, 't1')).toMatchObject({ seq: 3, epoch: 2 });
    });

    it('can end the turn; the messages that wait are counted', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.accept(acceptance(userMessage('m2'), 't1'));
      await storage.accept(acceptance(userMessage('m3'), 't1'));
      expect(await play.write(['TASK_STATE_WORKING'])).toBe(2);
      expect(await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 })).toBe(2);
      expect(await storage.task(ALICE, 't1')).toMatchObject({ running: false });
    });

    it('of nothing can end a turn', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_INPUT_REQUIRED']);
      await play.write([], { endsTurn: 1 });
      expect(await tested.storage.task(ALICE, 't1')).toMatchObject({ running: false, seq: 2 });
    });

    it('of a terminal record ends every turn, the waiting ones included', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.accept(acceptance(userMessage('m2'), 't1'));
      expect(await play.write(['TASK_STATE_COMPLETED'])).toBe(0);
      expect(await storage.task(ALICE, 't1')).toMatchObject({ running: false });
      clock.pass(LEASE.leaseMs * 2);
      expect(await claimsOf(storage, { ...ELSEWHERE, agents: ['test'], limit: 10 })).toEqual([]);
      expect(await storage.renew({ ...LEASE, turns: [play.held] })).toEqual([{ held: false }]);
    });

    it('rejects records out of sequence and an end without snapshot, and writes nothing', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const draft = play.draft(['TASK_STATE_WORKING', play.chunk('x', false)]);
      const gap = [new LogRecord(2, 1, play.status('TASK_STATE_WORKING')), new LogRecord(4, 1, play.chunk('x', false))];
      await expect(storage.append({ ...draft, records: gap })).rejects.toMatchObject({ name: 'StorageError' });
      const { snapshot: _, ...end } = play.draft(['TASK_STATE_COMPLETED']);
      await expect(storage.append(end)).rejects.toMatchObject({ name: 'StorageError' });
      expect(await storage.task(ALICE, 't1')).toMatchObject({ seq: 1 });
      await play.write(['TASK_STATE_WORKING']);
    });
  });
}
