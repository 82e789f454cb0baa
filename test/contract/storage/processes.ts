import { describe, expect, it } from 'vitest';
import type { TaskKey } from '../../../packages/parley/src/store/task-key.js';
import {
  ALICE,
  acceptance,
  acceptedOf,
  claimsOf,
  ELSEWHERE,
  LEASE,
  newTask,
  only,
  TaskPlay,
  userMessage,
} from './task-play.js';
import { type OpenStorage, type Tested, useStorage } from './tested-storage.js';

/** Collects all further wake-ups as texts. */
function wakeupsOf({ storage }: Tested): string[] {
  const seen: string[] = [];
  storage.wakeups.subscribe({
    taskChanged: ({ scope, id }) => seen.push(`changed ${scope.owner} ${id}`),
    workReady: (agent) => seen.push(`work ${agent}`),
    cancelAsked: ({ scope, id }) => seen.push(`cancel ${scope.owner} ${id}`),
  });
  return seen;
}

/** The contract of a storage for several processes. */
export function processesContract(open: OpenStorage): void {
  describe('the heads of tasks', () => {
    const tested = useStorage(open);
    const key = (id: string): TaskKey => ({ scope: ALICE, id });

    it('say in one read how far each task is, in the order asked', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await storage.accept(acceptance(userMessage('m'), newTask(tested, 't2')));
      await play.write(['TASK_STATE_WORKING', play.chunk('a')]);
      const bobs: TaskKey = { scope: { ...ALICE, owner: 'bob' }, id: 't1' };
      expect(await storage.heads([key('t2'), bobs, key('t1'), key('unknown')])).toEqual([
        { seq: 1, state: 'TASK_STATE_SUBMITTED', lastTurn: 0 },
        undefined,
        { seq: 3, state: 'TASK_STATE_WORKING', lastTurn: 1 },
        undefined,
      ]);
      expect(await storage.heads([])).toEqual([]);
    });

    it('name the turn that an end from outside has ended', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      expect((await storage.task(ALICE, 't1'))?.heldTurn).toBe(1);
      const end = play.draft(['TASK_STATE_CANCELED'], { authority: 'force' });
      expect((await storage.append(end)).kind).toBe('appended');
      expect(await storage.heads([key('t1')])).toEqual([{ seq: 2, state: 'TASK_STATE_CANCELED', lastTurn: 1 }]);
      expect((await storage.task(ALICE, 't1'))?.heldTurn).toBe(0);
    });
  });

  describe('wake-ups', () => {
    const tested = useStorage(open);

    it('tell of the next message when a turn is over, however it ends', async () => {
      const { storage } = tested;
      const ended = await TaskPlay.begin(tested, 't1');
      const given = await TaskPlay.begin(tested, 't2');
      const fenced = await TaskPlay.begin(tested, 't3');
      for (const id of ['t1', 't2', 't3']) acceptedOf(await storage.accept(acceptance(userMessage('next'), id)));
      const work = (): string[] => seen.splice(0).filter((each) => each.startsWith('work'));
      const seen = wakeupsOf(tested);
      await ended.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      expect(work()).toEqual(['work test']);
      await storage.release({ ...given.held, attempt: 1 }, 'done');
      expect(work()).toEqual(['work test']);
      await fenced.write(['TASK_STATE_WORKING'], { authority: 'force' });
      expect(work()).toEqual(['work test']);
    });

    it('tell again of a message whose answer was lost', async () => {
      const { storage } = tested;
      const message = acceptance(userMessage('m1'), newTask(tested, 't1'));
      acceptedOf(await storage.accept(message));
      const seen = wakeupsOf(tested);
      acceptedOf(await storage.accept({ ...message, again: true }));
      expect(seen).toEqual(['work test']);
    });

    it('tell of no work when a turn goes on, or leaves none', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const lone = await TaskPlay.begin(tested, 't2');
      acceptedOf(await storage.accept(acceptance(userMessage('next'), 't1')));
      const seen = wakeupsOf(tested);
      await play.write(['TASK_STATE_WORKING']);
      await lone.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      expect(seen.filter((each) => each.startsWith('work'))).toEqual([]);
    });

    it('tell of writes from outside and of deletions', async () => {
      const { storage, clock } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const seen = wakeupsOf(tested);
      clock.pass(1);
      await play.write(['TASK_STATE_COMPLETED'], { authority: 'idle' });
      expect(seen).toEqual(['changed alice t1']);
      expect(await storage.delete(ALICE, 't1')).toBe('deleted');
      expect(await storage.delete(ALICE, 't1')).toBe('not-found');
      expect(seen).toEqual(['changed alice t1', 'changed alice t1']);
    });

    it('tell of turns that can be claimed: those accepted unclaimed, and those given up', async () => {
      const { storage } = tested;
      const seen = wakeupsOf(tested);
      acceptedOf(await storage.accept(acceptance(userMessage('m'), newTask(tested, 't1'))));
      expect(seen).toEqual(['work test']);
      const claim = only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 1 }));
      await storage.release({ ...new TaskPlay(tested, claim).held, attempt: 2 }, 'again');
      expect(seen).toEqual(['work test', 'work test']);
    });

    it('tell of a message only if no node holds its task', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 'held');
      acceptedOf(await storage.accept(acceptance(userMessage('m1'), newTask(tested, 'free'))));
      const seen = wakeupsOf(tested);
      acceptedOf(await storage.accept(acceptance(userMessage('m2'), play.key.id)));
      expect(seen).toEqual([]);
      // The first turn of the task can be claimed, so this message cannot claim its own.
      const { claim } = acceptedOf(await storage.accept(acceptance(userMessage('m3'), 'free', { claim: LEASE })));
      expect(claim).toBeUndefined();
      expect(seen).toEqual(['work test']);
    });

    it('tell of requests to cancel, but not of those that are refused', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const seen = wakeupsOf(tested);
      await storage.requestCancel(ALICE, 't1', {});
      await storage.requestCancel({ ...ALICE, owner: 'bob' }, 't1', {});
      expect(seen).toEqual(['cancel alice t1']);
      await play.write(['TASK_STATE_COMPLETED']);
      await storage.requestCancel(ALICE, 't1', {});
      // Only a shared storage sends a wake-up for the append.
      expect(seen.filter((wakeup) => wakeup !== 'changed alice t1')).toEqual(['cancel alice t1']);
    });

    it('end with the subscription', async () => {
      const { storage } = tested;
      await TaskPlay.begin(tested, 't1');
      const seen: TaskKey[] = [];
      const end = storage.wakeups.subscribe({
        taskChanged: (key) => seen.push(key),
        workReady: () => {},
        cancelAsked: (key) => seen.push(key),
      });
      end();
      await storage.requestCancel(ALICE, 't1', {});
      expect(seen).toEqual([]);
    });
  });

  describe('nodes', () => {
    const tested = useStorage(open);

    it('are listed with the time of their last heartbeat, by the clock of the storage', async () => {
      const { storage, clock } = tested;
      expect(await storage.nodes()).toEqual([]);
      const start = clock.now();
      expect(await storage.now()).toBe(start);
      expect(await storage.heartbeat({ node: LEASE.node, agents: ['test'], runningTurns: 0 })).toBe(start);
      clock.pass(10);
      await storage.heartbeat({ node: ELSEWHERE.node, agents: ['test', 'b'], runningTurns: 2 });
      clock.pass(10);
      await storage.heartbeat({ node: LEASE.node, agents: ['test'], runningTurns: 1 });
      expect(await storage.nodes()).toEqual([
        { node: LEASE.node, agents: ['test'], runningTurns: 1, firstSeenAt: start, seenAt: start + 20 },
        { node: ELSEWHERE.node, agents: ['test', 'b'], runningTurns: 2, firstSeenAt: start + 10, seenAt: start + 10 },
      ]);
    });

    it('leave the list an hour after their last heartbeat', async () => {
      const { storage, clock } = tested;
      await storage.heartbeat({ node: LEASE.node, agents: [], runningTurns: 0 });
      clock.pass(3_600_001);
      await storage.heartbeat({ node: ELSEWHERE.node, agents: [], runningTurns: 0 });
      expect((await storage.nodes()).map(({ node }) => node)).toEqual([ELSEWHERE.node]);
    });
  });
}
