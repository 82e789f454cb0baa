import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import type { Remembered } from '../idempotency-keys.js';
import { MemorySpaces } from './memory-space.js';
import { RememberedKeys } from './remembered-keys.js';

function keys(limits: { readonly keys: number; readonly bytes: number }) {
  const clock = new ManualClock();
  const spaces = new MemorySpaces();
  const scope = { agent: 'a', tenant: '', owner: 'ann' };
  const space = spaces.of(scope);
  const kept = new RememberedKeys({ spaces, limits });
  const put = (key: string, outcome: Remembered['outcome'] = { taskId: 't', turn: 1 }) =>
    kept.put(scope, { key, digest: `of ${key}`, ttlMs: 10 }, { outcome, now: 0, before: kept.find(scope, key) });
  const findNames = (...names: string[]) => names.filter((name) => kept.find(scope, name) !== undefined);
  const putOf = (owner: string, key: string, { tenant = '', length = 0, ttlMs = 60_000, isLasting = false } = {}) => {
    const own = { agent: 'a', tenant, owner };
    const outcome = length > 0 ? reply(length) : { taskId: 't', turn: 1 };
    kept.put(own, { key, digest: '', ttlMs, isLasting }, { outcome, now: clock.now(), before: kept.find(own, key) });
  };
  const hasOf = (owner: string, key: string) => kept.find({ agent: 'a', tenant: '', owner }, key) !== undefined;
  const pass = async (ms: number) => {
    await clock.advance(ms);
    kept.sweep(clock.now(), 1_000);
  };
  return { kept, spaces, space, put, findNames, putOf, hasOf, pass };
}

const reply = (length: number) => ({
  reply: { messageId: 'r', role: 'ROLE_AGENT' as const, parts: [{ text: 'x'.repeat(length) }] },
});

it('forgets the oldest key when there is one more than there may be', () => {
  const { put, findNames, space } = keys({ keys: 3, bytes: 1e6 });
  for (const key of ['a', 'b', 'c', 'a', 'd', 'e']) put(key);
  expect(findNames('a', 'b', 'c', 'd', 'e')).toEqual(['a', 'd', 'e']);
  expect(space.keyCount).toBe(3);
});

it('counts bytes too: replies push the oldest keys out, and one that is too large is not kept', () => {
  const { put, findNames } = keys({ keys: 100, bytes: 10_000 });
  put('a');
  put('b', reply(1_000));
  put('c', reply(1_000));
  expect(findNames('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
  put('d', reply(3_000));
  expect(findNames('a', 'b', 'c', 'd')).toEqual(['c', 'd']);
  put('e', reply(50_000));
  expect(findNames('a', 'b', 'c', 'd', 'e')).toEqual(['c', 'd']);
  for (let round = 0; round < 100; round += 1) put('f', reply(1_000));
  put('g', reply(1_000));
  expect(findNames('f', 'g')).toEqual(['f', 'g']);
});

it('a caller who sends too much loses own keys, and not those of others', () => {
  const { hasOf, putOf, findNames, put } = keys({ keys: 1_000, bytes: 64_000 });
  for (const key of ['a', 'b', 'c']) put(key);
  for (let at = 0; at < 20; at += 1) putOf('eve', `m${at}`, { length: 4_000 });
  for (let at = 0; at < 2_000; at += 1) putOf('eve', `short ${at}`, { length: 10 });
  expect(findNames('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
  put('d', reply(1_000));
  expect(findNames('a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c', 'd']);
  expect(hasOf('eve', 'm0')).toBe(false);
  expect(hasOf('eve', 'short 1999')).toBe(true);
});

it('the key that was just put stays, though it alone is more than the share of its caller', () => {
  const { putOf, hasOf } = keys({ keys: 1_000, bytes: 64_000 });
  for (let at = 0; at < 30; at += 1) putOf(`small ${at}`, 'k', { length: 900 });
  putOf('eve', 'large', { length: 10_000 });
  expect([hasOf('eve', 'large'), hasOf('small 0', 'k'), hasOf('small 29', 'k')]).toEqual([true, false, true]);
});

it('many callers with the same ids cost what callers with different ones cost', () => {
  const cost = (keyOf: (at: number) => string) => {
    const { putOf } = keys({ keys: 100_000, bytes: 1e9 });
    const before = performance.now();
    for (let at = 0; at < 8_000; at += 1) putOf(`caller ${at}`, keyOf(at));
    return performance.now() - before;
  };
  const rounds = [1, 2, 3].map(() => [cost(() => '1'), cost((at) => String(at))] as const);
  expect(Math.min(...rounds.map(([same]) => same))).toBeLessThan(5 * Math.min(...rounds.map(([, other]) => other)));
});

it('a caller with many tenants loses own keys, and not those of others', () => {
  const { putOf, hasOf } = keys({ keys: 80, bytes: 1e6 });
  putOf('ann', 'precious');
  for (let at = 0; at < 200; at += 1) putOf('eve', `m${at}`, { tenant: String(at % 20) });
  expect(hasOf('ann', 'precious')).toBe(true);
});

it('lasting keys of one caller push out none of another', () => {
  const { putOf, hasOf } = keys({ keys: 10, bytes: 1e6 });
  putOf('ann', 'precious', { isLasting: true });
  for (let at = 0; at < 10; at += 1) putOf('eve', `m${at}`, { isLasting: true });
  expect(hasOf('ann', 'precious')).toBe(true);
});

it('a caller with much of the room gives it up, also one who has become the largest without a new key', async () => {
  const { putOf, hasOf, pass } = keys({ keys: 40, bytes: 100_000 });
  for (let at = 0; at < 4; at += 1) putOf('largest', `f${at}`, { length: 6_000, ttlMs: 1_000 });
  putOf('ann', 'precious');
  for (let at = 0; at < 3; at += 1) putOf('large', `h${at}`, { length: 6_000 });
  await pass(2_000);
  for (let at = 0; at < 30; at += 1) putOf(`small ${at}`, 'k', { length: 1_000 });
  expect(hasOf('ann', 'precious')).toBe(true);
});

it('a caller with many keys gives them up, also if another has more bytes', () => {
  const { putOf, hasOf } = keys({ keys: 80, bytes: 1e6 });
  putOf('ann', 'precious');
  putOf('bytes', 'b', { length: 30_000 });
  for (let at = 0; at < 70; at += 1) putOf('many', `h${at}`);
  for (let at = 0; at < 20; at += 1) putOf(`small ${at}`, 'k');
  expect(hasOf('ann', 'precious')).toBe(true);
});

it('the oldest keys go first, also after those of a large caller have gone before them', async () => {
  const { putOf, hasOf, pass } = keys({ keys: 16, bytes: 1e6 });
  putOf('ann', 'oldest');
  for (let at = 0; at < 13; at += 1) putOf('eve', `e${at}`, { ttlMs: 1_000 });
  putOf('bea', 'newer');
  putOf('cid', 'newer');
  putOf('eve', 'one more', { ttlMs: 1_000 });
  await pass(2_000);
  for (let at = 0; at < 14; at += 1) putOf(`small ${at}`, 'k');
  expect([hasOf('ann', 'oldest'), hasOf('bea', 'newer')]).toEqual([false, true]);
});

it('a lasting key stays until it expires, however many others come', () => {
  const { kept, space, put, findNames } = keys({ keys: 10, bytes: 1e6 });
  const lasting = { key: 'authorization', digest: '', ttlMs: 20, isLasting: true } as const;
  kept.put(space.scope, lasting, { outcome: reply(10), now: 0, before: undefined });
  for (let at = 0; at < 100; at += 1) put(`m${at}`);
  expect(findNames('authorization', 'm89', 'm90', 'm99')).toEqual(['authorization', 'm90', 'm99']);
  expect(kept.sweep(10, 1_000)).toBe(10);
  expect(findNames('authorization')).toEqual(['authorization']);
  expect(kept.sweep(20, 1_000)).toBe(1);
  expect(findNames('authorization')).toEqual([]);
});

it('keeps neither a message nor its size', () => {
  const { kept, space, put } = keys({ keys: 100, bytes: 1e6 });
  put('a');
  expect(kept.find(space.scope, 'a')).toMatchObject({
    digest: 'of a',
    outcome: { taskId: 't', turn: 1 },
    expiresAt: 10,
  });
});
