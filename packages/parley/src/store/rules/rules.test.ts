import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideAccept, NO_TURNS, nextTurn, repeatedAccept } from './decide-accept.js';
import { type AppendRequest, decideAppend } from './decide-append.js';
import { decideCancel, decideDelete } from './decide-cancel.js';
import { keyStanding } from './decide-key.js';
import { claimedBy, isClaimable, releasedCounts, renewedHolder } from './decide-lease.js';
import { type Holder, isHeld, isRunning, type TaskHead, waitingIn } from './task-head.js';
import { arrivalAt, nextPlace, oldestWaits, PLACES_PER_MS } from './turn-place.js';

const LEASE = { node: 'here', leaseMs: 10 };
const TASK = { scope: { agent: 'a', tenant: '', owner: null }, id: 't' };
const ELSEWHERE = { node: 'there', leaseMs: 10 };

function headOf(more: Partial<TaskHead> = {}): TaskHead {
  return {
    contextId: 'c',
    hasEnded: false,
    seq: 1,
    epoch: 0,
    turns: 0,
    began: 0,
    queue: [],
    holder: undefined,
    ...more,
  };
}

/** A task whose first turn is held until 10. */
function heldHead(more: Partial<TaskHead> = {}): TaskHead {
  return headOf({ epoch: 1, turns: 1, queue: [{ turn: 1 }], holder: { turn: 1, node: 'here', leaseEnd: 10 }, ...more });
}

function request(more: Partial<AppendRequest> = {}): AppendRequest {
  return { authority: 1, after: 1, count: 1, ends: false, endsTurn: undefined, ...more };
}

describe('a message', () => {
  const asked = { contextId: undefined, waitingLimit: 1, claim: LEASE };

  it('gets the next turn, and claims it if no other turn waits or runs', () => {
    const accepted = { kind: 'accepted', turn: 1, epoch: 1, attempts: 1, isReady: false };
    expect(decideAccept(headOf(), asked, 5)).toEqual({
      ...accepted,
      holder: { turn: 1, node: 'here', leaseEnd: 15 },
    });
    const { holder } = heldHead();
    expect(decideAccept(heldHead(), asked, 5)).toEqual({ ...accepted, turn: 2, attempts: 0, holder });
    expect(decideAccept(headOf({ turns: 4 }), { ...asked, claim: undefined }, 5)).toMatchObject({
      turn: 5,
      epoch: 0,
      attempts: 0,
      holder: undefined,
      isReady: true,
    });
    const waiting = headOf({ turns: 1, queue: [{ turn: 1 }] });
    expect(decideAccept(waiting, asked, 5)).toMatchObject({ turn: 2, attempts: 0, isReady: true });
  });

  it('is refused for a task that is not there, has ended, is in another context, or has too many that wait', () => {
    expect(decideAccept(undefined, asked, 5)).toEqual({ kind: 'not-found' });
    expect(decideAccept(headOf({ hasEnded: true }), { ...asked, contextId: 'other' }, 5)).toEqual({ kind: 'terminal' });
    expect(decideAccept(headOf(), { ...asked, contextId: 'other' }, 5)).toEqual({ kind: 'other-context' });
    expect(decideAccept(headOf(), { ...asked, contextId: 'c' }, 5)).toMatchObject({ kind: 'accepted' });
    expect(decideAccept(headOf({ contextId: null }), { ...asked, contextId: 'c' }, 5)).toEqual({
      kind: 'other-context',
    });
    const queue = [{ turn: 1 }, { turn: 2 }];
    expect(decideAccept(heldHead({ queue }), asked, 5)).toEqual({ kind: 'full' });
  });

  it('begins a new task with turn 1', () => {
    expect(nextTurn(NO_TURNS, LEASE, 5)).toEqual({
      kind: 'accepted',
      turn: 1,
      epoch: 1,
      holder: { turn: 1, node: 'here', leaseEnd: 15 },
      attempts: 1,
      isReady: false,
    });
    expect(nextTurn(NO_TURNS, undefined, 5)).toMatchObject({ epoch: 0, holder: undefined, attempts: 0, isReady: true });
  });

  it('that is repeated gets its turn again, with its claim if its node holds it and has written nothing', () => {
    expect(repeatedAccept(heldHead(), 1, LEASE)).toEqual({ turn: 1, isClaimed: true, isReady: false });
    expect(repeatedAccept(heldHead(), 1, ELSEWHERE)).toEqual({ turn: 1, isClaimed: false, isReady: false });
    expect(repeatedAccept(heldHead({ began: 1 }), 1, LEASE)).toEqual({ turn: 1, isClaimed: false, isReady: false });
    expect(repeatedAccept(heldHead(), 2, LEASE)).toEqual({ turn: 2, isClaimed: false, isReady: false });
    expect(repeatedAccept(heldHead(), 1, undefined)).toEqual({ turn: 1, isClaimed: false, isReady: false });
  });
});

describe('an append', () => {
  it('of the holder goes behind the last record and marks its turn as begun', () => {
    expect(decideAppend(heldHead(), request({ count: 2 }), { now: 5 })).toEqual({
      kind: 'appended',
      seq: 3,
      epoch: 1,
      began: 1,
      holder: heldHead().holder,
      drops: undefined,
      writer: 1,
    });
  });

  it('of the holder is accepted after the end of its lease, until another node claims the turn', () => {
    expect(decideAppend(heldHead(), request(), { now: 99 })).toMatchObject({ kind: 'appended' });
    const taken = heldHead({ epoch: 2, holder: { turn: 1, node: 'there', leaseEnd: 200 } });
    expect(decideAppend(taken, request(), { now: 99 })).toEqual({ kind: 'fenced' });
  });

  it('that ends the turn or the task frees the task', () => {
    expect(decideAppend(heldHead(), request({ endsTurn: 1 }), { now: 5 })).toMatchObject({
      drops: 1,
      holder: undefined,
      epoch: 1,
    });
    expect(decideAppend(heldHead(), request({ ends: true, endsTurn: 1 }), { now: 5 })).toMatchObject({
      drops: 'all',
      holder: undefined,
    });
  });

  it('from outside waits for the turn, or overtakes it by force', () => {
    const idle = request({ authority: 'idle' });
    expect(decideAppend(heldHead(), idle, { now: 9 })).toEqual({ kind: 'running' });
    expect(decideAppend(heldHead(), idle, { now: 10 })).toMatchObject({ kind: 'appended', epoch: 1, began: 0 });
    expect(decideAppend(heldHead(), request({ authority: 'force' }), { now: 9 })).toMatchObject({
      kind: 'appended',
      epoch: 2,
      holder: undefined,
      drops: undefined,
      writer: undefined,
    });
  });

  it('is refused behind another record, after the end, and for a task that is not there', () => {
    for (const authority of [1, 'idle', 'force'] as const) {
      expect(decideAppend(undefined, request({ authority }), { now: 20 })).toEqual({ kind: 'not-found' });
      expect(decideAppend(heldHead({ seq: 5 }), request({ authority }), { now: 20 })).toEqual({ kind: 'fenced' });
      const ended = headOf({ hasEnded: true, epoch: 9 });
      expect(decideAppend(ended, request({ authority }), { now: 20 })).toEqual({ kind: 'terminal' });
    }
  });

  it('whose answer was lost is recognized by its records, also when it ended the task', () => {
    const after = { ...heldHead({ seq: 2, began: 1 }) };
    expect(decideAppend(after, request(), { now: 5 })).toEqual({ kind: 'compare' });
    expect(decideAppend(after, request(), { now: 5, isInLog: true })).toEqual({ kind: 'repeated' });
    expect(decideAppend(after, request(), { now: 5, isInLog: false })).toEqual({ kind: 'fenced' });
    const ended = headOf({ seq: 2, epoch: 1, hasEnded: true });
    expect(decideAppend(ended, request({ ends: true }), { now: 5, isInLog: true })).toEqual({ kind: 'repeated' });
    expect(decideAppend(ended, request({ ends: true }), { now: 5, isInLog: false })).toEqual({ kind: 'terminal' });
    const released = headOf({ epoch: 1 });
    expect(decideAppend(released, request({ count: 0, endsTurn: 1 }), { now: 5 })).toEqual({ kind: 'repeated' });
  });
});

describe('a claim', () => {
  it('finds turns without a holder, and those whose lease has ended', () => {
    expect(isClaimable(headOf(), ELSEWHERE, { task: TASK, now: 5 })).toBe(false);
    expect(isClaimable(heldHead({ holder: undefined }), LEASE, { task: TASK, now: 5 })).toBe(true);
    expect(isClaimable(heldHead(), ELSEWHERE, { task: TASK, now: 9 })).toBe(false);
    expect(isClaimable(heldHead(), ELSEWHERE, { task: TASK, now: 10 })).toBe(true);
  });

  it('takes back an ended lease of its own node only if the node does not know of it', () => {
    expect(isClaimable(heldHead(), LEASE, { task: TASK, now: 10 })).toBe(false);
    const own = { key: TASK, turn: 1, epoch: 1 };
    const other = { ...own, key: { ...TASK, id: 'other' } };
    const claim = (holds: (typeof own)[], now: number) =>
      isClaimable(heldHead(), { ...LEASE, holds }, { task: TASK, now });
    expect(claim([other, own], 10)).toBe(false);
    expect(claim([other, { ...own, epoch: 0 }], 10)).toBe(true);
    expect(claim([], 10)).toBe(true);
    expect(claim([], 9)).toBe(false);
  });

  it('overtakes the holder before it', () => {
    const taken = { ...heldHead(), ...claimedBy(heldHead(), 1, { lease: ELSEWHERE, now: 20 }) };
    expect(taken).toMatchObject({ epoch: 2, holder: { turn: 1, node: 'there', leaseEnd: 30 } });
    expect(isHeld(taken, { turn: 1, epoch: 1 })).toBe(false);
    expect(isHeld(taken, { turn: 1, epoch: 2 })).toBe(true);
  });
});

describe('a held turn', () => {
  it('is renewed by its node only, also after the end of its lease', () => {
    expect(renewedHolder(heldHead(), { turn: 1, epoch: 1 }, 99)).toEqual({ turn: 1, node: 'here', leaseEnd: 99 });
    expect(renewedHolder(heldHead(), { turn: 2, epoch: 1 }, 99)).toBeUndefined();
    expect(renewedHolder(heldHead({ epoch: 2 }), { turn: 1, epoch: 1 }, 99)).toBeUndefined();
  });

  it('counts an attempt unless it is handed over or has not begun', () => {
    expect(releasedCounts('done', 2)).toBeUndefined();
    expect(releasedCounts('again', 2)).toEqual({ attempts: 2, addedHandOvers: 0 });
    expect(releasedCounts('handover', 2)).toEqual({ attempts: 2, addedHandOvers: 1 });
    expect(releasedCounts('unbegun', 2)).toEqual({ attempts: 1, addedHandOvers: 0 });
  });

  it('keeps requests to cancel, and keeps its task from being deleted', () => {
    expect(decideCancel(undefined)).toEqual({ kind: 'not-found' });
    expect(decideCancel(headOf({ hasEnded: true }))).toEqual({ kind: 'terminal' });
    expect(decideCancel(headOf())).toEqual({ kind: 'requested', turn: undefined });
    expect(decideCancel(heldHead())).toEqual({ kind: 'requested', turn: 1 });
    expect([decideDelete(undefined, 5), decideDelete(heldHead(), 9), decideDelete(heldHead(), 10)]).toEqual([
      'not-found',
      'running',
      'deleted',
    ]);
  });
});

describe('the place of a turn', () => {
  it('is behind all others, and has the time of arrival', () => {
    const now = 1_800_000_000_000;
    const first = nextPlace(0, now);
    expect(arrivalAt(first)).toBe(now);
    expect(nextPlace(first, now)).toBe(first + 1);
    expect(nextPlace(first, now - 1_000)).toBe(first + 1);
    expect(arrivalAt(first + PLACES_PER_MS - 1)).toBe(now);
    expect(arrivalAt(first + PLACES_PER_MS)).toBe(now + 1);
  });

  it('has no time if there is none, or if an old version made it', () => {
    for (const place of [undefined, null, 0, 1, 2 ** 40 - 1]) expect(arrivalAt(place)).toBeUndefined();
    expect(arrivalAt(2 ** 40)).toBe(2 ** 40 / PLACES_PER_MS);
  });

  it('gives the ages of the oldest work, never below 0', () => {
    expect(oldestWaits({ arrived: 70, due: 110 }, 100)).toEqual({ oldestWaitMs: 30, oldestDueMs: 0 });
    expect(oldestWaits({ arrived: null, due: undefined }, 100)).toEqual({});
  });
});

describe('an idempotency key', () => {
  const key = { expiresAt: 10, isTaskGone: false };

  it('is free when it is new, has expired, or names a task that is gone', () => {
    expect(keyStanding(undefined, 'here', 5)).toBe('free');
    expect(keyStanding(key, 'here', 10)).toBe('free');
    expect(keyStanding({ ...key, isTaskGone: true }, 'here', 5)).toBe('free');
    expect(keyStanding(key, 'here', 9)).toBe('known');
  });

  it('that is reserved is free for its node, and for others once the lease has ended', () => {
    const reserved = { ...key, reservation: { node: 'here', leaseEnd: 8 } };
    expect(keyStanding(reserved, 'here', 5)).toBe('free');
    expect(keyStanding(reserved, 'there', 5)).toBe('reserved');
    expect(keyStanding(reserved, undefined, 5)).toBe('reserved');
    expect(keyStanding(reserved, 'there', 8)).toBe('free');
  });
});

/** A storage of one task that only applies the rules. */
class OneTask {
  head = headOf();
  now = 0;
  readonly #log: { readonly epoch: number; readonly seq: number }[] = [];

  set(more: Partial<TaskHead>): void {
    expect(more.epoch ?? this.head.epoch).toBeGreaterThanOrEqual(this.head.epoch);
    expect(more.seq ?? this.head.seq).toBeGreaterThanOrEqual(this.head.seq);
    if (this.head.hasEnded) expect({ ...this.head, ...more }).toEqual(this.head);
    this.head = { ...this.head, ...more };
    const { holder, queue } = this.head;
    if (holder !== undefined) expect(holder.turn).toBe(queue[0]?.turn);
    expect(waitingIn(this.head)).toBeGreaterThanOrEqual(0);
  }

  accept(node: string): void {
    const claim = { node, leaseMs: 5 };
    const decision = decideAccept(this.head, { contextId: 'c', waitingLimit: 3, claim }, this.now);
    if (decision.kind !== 'accepted') return;
    const { turn, epoch, holder } = decision;
    this.set({ turns: turn, epoch, holder, queue: [...this.head.queue, { turn }] });
  }

  claim(node: string): void {
    const [first] = this.head.queue;
    if (first === undefined || !isClaimable(this.head, { node }, { task: TASK, now: this.now })) return;
    expect(isRunning(this.head, this.now)).toBe(false);
    this.set(claimedBy(this.head, first.turn, { lease: { node, leaseMs: 5 }, now: this.now }));
  }

  append(asked: AppendRequest): void {
    const decision = decideAppend(this.head, asked, { now: this.now, isInLog: false });
    if (decision.kind !== 'appended') return;
    const { seq, epoch, began, holder, drops } = decision;
    for (let at = this.head.seq + 1; at <= seq; at += 1) this.#log.push({ epoch, seq: at });
    const queue = drops === 'all' ? [] : this.head.queue.filter(({ turn }) => turn !== drops);
    this.set({ seq, epoch, began, holder, queue, hasEnded: asked.ends });
  }

  release(held: { turn: number; epoch: number }): void {
    if (!isHeld(this.head, held)) return;
    const queue = this.head.queue.filter(({ turn }) => turn !== held.turn);
    this.set({ holder: undefined, queue });
  }

  check(): void {
    expect(this.#log.map(({ seq }) => seq)).toEqual(this.#log.map((_, at) => at + 2));
    const epochs = this.#log.map(({ epoch }) => epoch);
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
  }
}

it('no sequence of calls breaks the log, runs two turns at once, or lets an older epoch write', () => {
  const node = fc.constantFrom('a', 'b');
  const back = fc.constantFrom(0, 0, 0, 1);
  const steps = fc.array(
    fc.oneof(
      node.map((by) => (task: OneTask) => task.accept(by)),
      node.map((by) => (task: OneTask) => task.claim(by)),
      fc.nat({ max: 6 }).map((ms) => (task: OneTask) => {
        task.now += ms;
      }),
      fc
        .tuple(fc.constantFrom('own', 'own', 'idle', 'force'), back, fc.nat({ max: 2 }), fc.boolean(), fc.nat(20))
        .map(([by, off, count, endsTurn, chance]) => (task: OneTask) => {
          const { epoch, seq, holder } = task.head;
          task.append({
            authority: by === 'own' ? epoch - off : (by as 'idle' | 'force'),
            after: seq - off,
            count,
            ends: chance === 0,
            endsTurn: endsTurn ? holder?.turn : undefined,
          });
        }),
      back.map((off) => (task: OneTask) => {
        const holder: Holder | undefined = task.head.holder;
        if (holder !== undefined) task.release({ turn: holder.turn, epoch: task.head.epoch - off });
      }),
    ),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(steps, (script) => {
      const task = new OneTask();
      for (const step of script) step(task);
      task.check();
    }),
    { numRuns: 300 },
  );
});
