import { describe, expect, it } from 'vitest';
import { bytesOf, type Queued, WriteQueue } from './write-queue.js';
import type { WriteRequest } from './write-requests.js';

const MIB = 1_048_576;

/** Makes an append with a text of this length. */
function append(task: string, bytes: number): Queued & { readonly name: string } {
  const rows = [[1, 1, 'x'.repeat(bytes), null, null]] as const;
  const request: WriteRequest = ['append', ['a', '', null], task, 0, 1, 0, 2, 0, '{}', null, null, null, rows, null];
  return { request, bytes: bytesOf(request), name: `${task} ${bytes}` };
}

function batches(...entries: readonly ReturnType<typeof append>[]): readonly (readonly string[])[] {
  const queue = new WriteQueue<ReturnType<typeof append>>();
  for (const entry of entries) queue.add(entry);
  const taken: string[][] = [];
  for (let batch = queue.take(); batch.length > 0; batch = queue.take()) taken.push(batch.map(({ name }) => name));
  return taken;
}

describe('a queue of requests', () => {
  it('gives small requests out together, in their order', () => {
    expect(batches(append('a', 1), append('b', 2), append('a', 3))).toEqual([['a 1', 'b 2', 'a 3']]);
  });

  it('bounds the bytes of a batch', () => {
    const many = Array.from({ length: 200 }, (_, at) => append(`t${at}`, 60_000));
    const sizes = batches(...many).map(({ length }) => length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200);
    expect(Math.max(...sizes) * 60_000).toBeLessThanOrEqual(4 * MIB);
  });

  it('gives large requests out one by one, and small ones before them', () => {
    const large = ['a', 'b', 'c'].map((task) => append(task, 8 * MIB));
    expect(batches(...large, append('d', 1), append('e', 1))).toEqual([
      ['d 1', 'e 1', `a ${8 * MIB}`],
      [`b ${8 * MIB}`],
      [`c ${8 * MIB}`],
    ]);
  });

  it('keeps the order of requests on one task', () => {
    const entries = [append('b', 8 * MIB), append('a', 1), append('a', 5 * MIB), append('a', 2), append('c', 3)];
    expect(batches(...entries)).toEqual([['a 1', 'c 3', `b ${8 * MIB}`], [`a ${5 * MIB}`], ['a 2']]);
  });
});
