import { expect, it } from 'vitest';
import { ManualClock } from '../../../../../test/support/manual-clock.js';
import { ClockedLifetime } from '../storage-lifetime.js';
import { MemorySpaces } from './memory-space.js';
import { type PutKey, RememberedKeys } from './remembered-keys.js';

function keys(limits: { readonly keys: number; readonly bytes: number }) {
  const spaces = new MemorySpaces();
  const space = spaces.of({ agent: 'a', tenant: '', owner: 'ann' });
  const kept = new RememberedKeys({ lifetime: new ClockedLifetime(new ManualClock()), spaces, limits });
  const put = (key: string, outcome: PutKey['outcome'] = { taskId: 't', turn: 1 }) =>
    kept.put(space, { key, digest: `of ${key}`, ttlMs: 10 }, { outcome, now: 0, before: kept.find(space, key) });
  const found = (...names: string[]) => names.filter((name) => kept.find(space, name) !== undefined);
  return { kept, spaces, space, put, found };
}

const reply = (length: number) => ({
  reply: { messageId: 'r', role: 'ROLE_AGENT' as const, parts: [{ text: 'x'.repeat(length) }] },
});

it('forgets the oldest key when there is one more than there may be', () => {
  const { put, found, space } = keys({ keys: 3, bytes: 1e6 });
  for (const key of ['a', 'b', 'c', 'a', 'd', 'e']) put(key);
  expect(found('a', 'b', 'c', 'd', 'e')).toEqual(['a', 'd', 'e']);
  expect(space.keys.size).toBe(3);
});

it('counts bytes too: replies push the oldest keys out, and one that is too large is not kept', () => {
  const { put, found } = keys({ keys: 100, bytes: 10_000 });
  put('a');
  put('b', reply(1_000));
  put('c', reply(1_000));
  expect(found('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
  put('d', reply(3_000));
  expect(found('a', 'b', 'c', 'd')).toEqual(['c', 'd']);
  put('e', reply(50_000));
  expect(found('a', 'b', 'c', 'd', 'e')).toEqual([]);
  for (let round = 0; round < 100; round += 1) put('f', reply(1_000));
  put('g', reply(1_000));
  expect(found('f', 'g')).toEqual(['f', 'g']);
});

it('a caller who sends too much loses own keys, and not those of others', () => {
  const { kept, spaces, found, put } = keys({ keys: 1_000, bytes: 64_000 });
  const eve = spaces.of({ agent: 'a', tenant: '', owner: 'eve' });
  const evePuts = (key: string, length: number) =>
    kept.put(eve, { key, digest: '', ttlMs: 10 }, { outcome: reply(length), now: 0, before: kept.find(eve, key) });
  for (const key of ['a', 'b', 'c']) put(key);
  for (let at = 0; at < 20; at += 1) evePuts(`m${at}`, 4_000);
  for (let at = 0; at < 2_000; at += 1) evePuts(`short ${at}`, 10);
  expect(found('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
  put('d', reply(1_000));
  expect(found('a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c', 'd']);
  expect(kept.find(eve, 'm0')).toBeUndefined();
  expect(kept.find(eve, 'short 1999')).toBeDefined();
});

it('a lasting key stays until it expires, however many others come', () => {
  const { kept, space, put, found } = keys({ keys: 10, bytes: 1e6 });
  const lasting = { key: 'authorization', digest: '', ttlMs: 20, isLasting: true } as const;
  kept.put(space, lasting, { outcome: reply(10), now: 0, before: undefined });
  for (let at = 0; at < 100; at += 1) put(`m${at}`);
  expect(found('authorization', 'm89', 'm90', 'm99')).toEqual(['authorization', 'm90', 'm99']);
  expect(kept.sweep(10, 1_000)).toBe(10);
  expect(found('authorization')).toEqual(['authorization']);
  expect(kept.sweep(20, 1_000)).toBe(1);
  expect(found('authorization')).toEqual([]);
});

it('keeps neither a message nor its size', () => {
  const { kept, space, put } = keys({ keys: 100, bytes: 1e6 });
  put('a');
  expect(kept.find(space, 'a')).toMatchObject({ digest: 'of a', outcome: { taskId: 't', turn: 1 }, expiresAt: 10 });
});
