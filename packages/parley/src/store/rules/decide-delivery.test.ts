import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DeliveryOutcome } from '../push-storage.js';
import {
  claimedDelivery,
  dueDelivery,
  isDeliveryClaimable,
  newDeliveryQueue,
  purgedDelivery,
  replayedDelivery,
  settledDelivery,
} from './decide-delivery.js';
import type { DeliveryHead } from './delivery-head.js';

const LEASE = { node: 'here', leaseMs: 10 };

/** A queue of a task that has one record. */
class OneQueue {
  now = 0;
  last = 1;
  head: DeliveryHead;
  /** The epoch of each claim. */
  readonly claims: number[] = [];

  constructor(position: number) {
    this.head = newDeliveryQueue(position, this.last, this.now);
  }

  grow(): void {
    this.last += 1;
    this.#become(dueDelivery(this.head, this.now));
  }

  claim(): void {
    if (!isDeliveryClaimable(this.head, this.now)) return;
    this.#become(claimedDelivery(this.head, LEASE, this.now));
    expect(this.claims).not.toContain(this.head.epoch);
    this.claims.push(this.head.epoch);
  }

  settle(outcome: DeliveryOutcome, back: number): void {
    const epoch = this.head.epoch - back;
    const { last, now } = this;
    const settled = settledDelivery(this.head, { epoch, outcome }, { last, now });
    if (back > 0) expect(settled).toBeUndefined();
    this.#become(settled);
  }

  replay(from: number | undefined): void {
    this.#become(replayedDelivery(this.head, { from, floor: 1, last: this.last }, this.now));
  }

  purge(): void {
    this.#become(purgedDelivery(this.head, this.last, this.now));
  }

  #become(head: DeliveryHead | undefined): void {
    if (head === undefined) return;
    expect(head.epoch).toBeGreaterThanOrEqual(this.head.epoch);
    this.head = head;
    const isPending = head.position < this.last;
    expect(head.dueAt !== undefined).toBe(isPending && head.parked === undefined);
    if (head.holder !== undefined) expect(head.dueAt).toBeDefined();
  }
}

const outcome = fc.oneof<fc.Arbitrary<DeliveryOutcome>[]>(
  fc.nat(5).map((through) => ({ kind: 'delivered', through })),
  fc.nat(5).map((through) => ({ kind: 'delivered', through, leaseMs: 5 })),
  fc.nat(5).map((inMs) => ({ kind: 'retry', inMs })),
  fc.nat(5).map((inMs) => ({ kind: 'defer', inMs })),
  fc.constant({ kind: 'park', reason: 'no' }),
);

it('a queue is due exactly if records are pending and it is not parked; an older epoch settles nothing', () => {
  const step = fc.oneof(
    fc.constant((queue: OneQueue) => queue.grow()),
    fc.constant((queue: OneQueue) => queue.claim()),
    fc.constant((queue: OneQueue) => queue.purge()),
    fc.tuple(outcome, fc.constantFrom(0, 0, 0, 1)).map(
      ([out, back]) =>
        (queue: OneQueue) =>
          queue.settle(out, back),
    ),
    fc.option(fc.nat(5), { nil: undefined }).map((from) => (queue: OneQueue) => queue.replay(from)),
    fc.nat(12).map((ms) => (queue: OneQueue) => {
      queue.now += ms;
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(0, 1), fc.array(step, { maxLength: 60 }), (position, steps) => {
      const queue = new OneQueue(position);
      for (const run of steps) run(queue);
    }),
    { numRuns: 300 },
  );
});

it('a settled record stays settled, whatever the holder says', () => {
  const begun = { ...newDeliveryQueue(3, 5, 0), holder: { node: 'here', leaseEnd: 10 } };
  const settleThrough = (through: number) =>
    settledDelivery(begun, { epoch: begun.epoch, outcome: { kind: 'delivered', through } }, { last: 5, now: 1 });
  expect(settleThrough(1)).toMatchObject({ position: 3, dueAt: 1 });
  expect(settleThrough(4)).toMatchObject({ position: 4, dueAt: 1 });
  expect(settleThrough(9)).toMatchObject({ position: 5, dueAt: undefined });
});
