import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { REMEMBERED_LIMIT } from '../rules/key-rules.js';
import { Counters } from './counters.js';
import { remember, standingOf } from './remembered-keys.js';
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
  const put = (key: string, { reply = '{}', now = NOW, lifeMs = 1e6 } = {}) =>
    tables.transaction(() =>
      remember(tables, ['remember', { scope: SCOPE, now, key, expiresAt: now + lifeMs, digest: 'd', reply }]),
    );
  const has = (key: string) => standingOf(tables, SCOPE, { key, node: undefined, now: NOW }).standing === 'known';
  return { db, tables, put, has };
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
      expect(tables.counters.remembered).toEqual(new Counters(new Statements(db, () => {})).remembered);
    }),
  );
});
