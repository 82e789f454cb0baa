import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { REMEMBERED_LIMIT } from '../rules/key-rules.js';
import { remember, standingOf } from './remembered-keys.js';
import { RememberedSizes } from './remembered-sizes.js';
import { prepareSchema } from './schema.js';
import { Statements } from './statements.js';
import type { ScopeFields } from './write-requests.js';
import { WriteTables } from './write-tables.js';

const SCOPE: ScopeFields = ['a', '', 'ann'];
const NOW = 1_000;

/** Tables of a new file, with keys that expire one after the other. */
function world(keys = 0) {
  const db = new DatabaseSync(':memory:');
  prepareSchema(db);
  const begin = new WriteTables(db, { limits: { eventLogBytes: 1e6, logBytes: 1e6 }, onAside: () => {} });
  const scope = begin.heads.scopeOf(SCOPE);
  db.exec(`INSERT INTO idempotency WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${keys})
    SELECT ${scope}, 'old-' || i, ${NOW} + i, 'd', NULL, NULL, '{}', NULL, NULL FROM n WHERE ${keys} > 0`);
  const tables = new WriteTables(db, { limits: { eventLogBytes: 1e6, logBytes: 1e6 }, onAside: () => {} });
  const put = (key: string, { reply = '{}', now = NOW, lifeMs = 1e6, scope: of = SCOPE } = {}) =>
    tables.transaction(() =>
      remember(tables, ['remember', { scope: of, now, key, expiresAt: now + lifeMs, digest: 'd', reply }]),
    );
  const has = (key: string, of = SCOPE) =>
    standingOf(tables, of, { key, node: undefined, now: NOW }).standing === 'known';
  return { db, tables, put, has };
}

function sizesOf({ keys, bytes }: RememberedSizes) {
  return { keys, bytes };
}

it('drops the oldest keys beyond the limit, a few at once, and no others', () => {
  const { db, tables, put, has } = world(REMEMBERED_LIMIT);
  for (let at = 0; at < 3; at++) put(`new-${at}`);
  const { keys } = tables.counters.remembered;
  expect(keys).toBeLessThanOrEqual(REMEMBERED_LIMIT);
  expect(keys).toBeGreaterThan(REMEMBERED_LIMIT * 0.99);
  expect(db.prepare('SELECT count(*) AS keys FROM idempotency').get()).toEqual({ keys });
  const dropped = REMEMBERED_LIMIT + 3 - keys;
  expect([has('old-1'), has(`old-${dropped}`), has(`old-${dropped + 1}`)]).toEqual([false, false, true]);
  expect([has(`old-${REMEMBERED_LIMIT}`), has('new-0'), has('new-2')]).toEqual([true, true, true]);
});

it('drops only as many keys as a large reply needs', () => {
  const { put, has } = world(3);
  put('large', { reply: `"${'x'.repeat(60_000_000)}"` });
  expect([has('old-1'), has('large')]).toEqual([true, true]);
  put('next', { reply: `"${'x'.repeat(7_200_000)}"` });
  expect([has('old-3'), has('large'), has('next')]).toEqual([false, false, true]);
});

it('counts the bytes of keys as SQLite counts them, also of those that take the place of another', () => {
  const { db, tables, put } = world();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.json(), fc.constantFrom(1, 1e6), (key, reply, lifeMs) => {
      put(key, { reply, lifeMs });
      put(key, { reply: '{"ü":1}', now: NOW + 2 });
      expect(sizesOf(tables.counters.remembered)).toEqual(sizesOf(new RememberedSizes(new Statements(db, () => {}))));
    }),
  );
});

const BOB: ScopeFields = ['a', '', 'bob'];

it('a scope with much of the keys loses its own before those of others', () => {
  const { db, put, has } = world(REMEMBERED_LIMIT - 3);
  // The first to expire.
  for (const key of ['one', 'two']) put(key, { scope: BOB, lifeMs: 0 });
  for (let at = 0; at < 3; at++) put(`new-${at}`);
  expect(db.prepare('SELECT count(*) AS keys FROM idempotency WHERE scope = 2').get()).toEqual({ keys: 2 });
  expect([has('old-1'), has('new-2')]).toEqual([false, true]);
  for (let at = 0; at < 1_000; at++) put(`bob-${at}`, { scope: BOB });
  expect(db.prepare('SELECT count(*) AS keys FROM idempotency WHERE scope = 2').get()).toEqual({ keys: 1_002 });
  expect([has('bob-0', BOB), has('bob-999', BOB)]).toEqual([true, true]);
});

it('a scope with large replies loses its own before those of others', () => {
  const { put, has } = world(3);
  const reply = (mib: number) => `"${'x'.repeat(mib * 1_048_576)}"`;
  for (let at = 0; at < 9; at++) put(`bob-${at}`, { scope: BOB, reply: reply(7), now: NOW + 10 + at });
  expect(has('bob-0', BOB)).toBe(true);
  put('bob-9', { scope: BOB, reply: reply(7), now: NOW + 20 });
  expect([has('bob-0', BOB), has('bob-9', BOB)]).toEqual([false, true]);
  expect([has('old-1'), has('old-3')]).toEqual([true, true]);
});

it('counts nothing of a transaction that was undone', () => {
  const { tables, put } = world(3);
  const before = sizesOf(tables.counters.remembered);
  expect(() =>
    tables.transaction(() => {
      remember(tables, ['remember', { scope: BOB, now: NOW, key: 'k', expiresAt: 2_000, digest: 'd', reply: '{}' }]);
      throw new Error('undone');
    }),
  ).toThrow('undone');
  expect(sizesOf(tables.counters.remembered)).toEqual(before);
  put('k', { scope: BOB });
  expect(tables.counters.remembered.keys).toBe(before.keys + 1);
});
