import { describe, expect, it } from 'vitest';
import { uuids } from './uuids.js';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const fill = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);
const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

describe('ordered ids', () => {
  it('sort as they were asked for, in one ms, from ms to ms, and when the clock goes back', () => {
    let now = TIME;
    const ids = uuids({ now: () => now, fill });
    const all = Array.from({ length: 20_000 }, (_, at) => {
      if (at % 9_000 === 8_999) now += 1;
      if (at === 15_000) now -= 5_000;
      return ids.ordered();
    });
    expect(all.every((id) => V7.test(id))).toBe(true);
    expect([...all].sort()).toEqual(all);
    expect(new Set(all).size).toBe(all.length);
  });

  it('tell their time', () => {
    const id = uuids({ now: () => TIME, fill }).ordered();
    expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(TIME);
  });
});

it('random ids are random', () => {
  const { random } = uuids({ now: () => TIME, fill });
  const all = Array.from({ length: 10_000 }, () => random());
  expect(all.every((id) => V4.test(id))).toBe(true);
  expect(new Set(all).size).toBe(all.length);
});

it('every bit comes from the bytes that were given', () => {
  const ones = uuids({ now: () => TIME, fill: (bytes) => void bytes.fill(0xff) });
  expect(ones.random()).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
  const counted = uuids({ now: () => TIME, fill: (bytes) => bytes.forEach((_, at) => void bytes.set([at], at)) });
  expect([counted.random(), counted.random()]).toEqual([
    '00010203-0405-4607-8809-0a0b0c0d0e0f',
    '10111213-1415-4617-9819-1a1b1c1d1e1f',
  ]);
  expect(counted.ordered().slice(14)).toBe('7000-a021-222324252627');
});
