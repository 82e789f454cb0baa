import { expect, it } from 'vitest';
import { type WaitingHolder, WaitingMemory } from './waiting-memory.js';

const KB = 1024;

/** A connection of a caller. */
class Connection implements WaitingHolder {
  waitingBytes = 0;
  hasEnded = false;
  readonly memory: WaitingMemory;
  readonly caller: string | undefined;

  constructor(memory: WaitingMemory, caller: string | undefined) {
    this.memory = memory;
    this.caller = caller;
  }

  endWaiting(): void {
    this.hasEnded = true;
    this.memory.forget(this);
  }

  grow(bytes: number): this {
    this.waitingBytes += bytes;
    this.memory.count(this, this.waitingBytes);
    return this;
  }
}

it('beyond its bound ends the largest connection of the caller with the most bytes', () => {
  const memory = new WaitingMemory(1_000 * KB);
  const honest = new Connection(memory, 'ann').grow(400 * KB);
  const greedy = Array.from({ length: 5 }, (_, at) => new Connection(memory, 'eve').grow((100 + at) * KB));
  expect([honest, ...greedy].some(({ hasEnded }) => hasEnded)).toBe(false);
  greedy[0]?.grow(200 * KB);
  expect(honest.hasEnded).toBe(false);
  expect(greedy.map(({ hasEnded }) => hasEnded)).toEqual([true, false, false, false, false]);
  new Connection(memory, undefined).grow(300 * KB);
  expect(greedy.map(({ hasEnded }) => hasEnded)).toEqual([true, false, false, false, true]);
});

it('counts again before it ends a connection, because bytes may have left', () => {
  const memory = new WaitingMemory(1_000 * KB);
  const first = new Connection(memory, 'ann').grow(900 * KB);
  first.waitingBytes = 0;
  const second = new Connection(memory, 'bob').grow(900 * KB);
  expect([first.hasEnded, second.hasEnded]).toEqual([false, false]);
  const third = new Connection(memory, 'cid').grow(200 * KB);
  expect([second.hasEnded, third.hasEnded]).toEqual([true, false]);
});

it('counts no connection whose peer reads', () => {
  const memory = new WaitingMemory(100 * KB);
  const many = Array.from({ length: 50 }, () => new Connection(memory, 'ann').grow(60 * KB));
  const grown = new Connection(memory, 'ann').grow(90 * KB);
  grown.waitingBytes = 0;
  grown.grow(10);
  expect(new Connection(memory, 'ann').grow(90 * KB).hasEnded).toBe(false);
  expect(many.some(({ hasEnded }) => hasEnded)).toBe(false);
});
