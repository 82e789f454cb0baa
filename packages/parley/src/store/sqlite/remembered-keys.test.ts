import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyStanding } from '../rules/decide-key.js';
import { REMEMBERED_LIMIT } from '../rules/key-head.js';
import { keyNumber } from './key-numbers.js';
import { keyAt, remember, sweepKeys } from './remembered-keys.js';
import { RememberedSizes } from './remembered-sizes.js';
import { prepareSchema } from './schema.js';
import { Statements } from './statements.js';
import type { ScopeFields } from './write-requests.js';
import { WriteTables } from './write-tables.js';

const SCOPE: ScopeFields = ['a', '', 'ann'];
const NOW = 1_000;

/** Tables of a new file. They may have keys of a scope that expire one after the other. */
function world(keys = 0) {
  const db = new DatabaseSync(':memory:');
  prepareSchema(db);
  const open = () => new WriteTables(db, { limits: { eventLogBytes: 1e6, logBytes: 1e6 }, onAside: () => {} });
  let tables = open();
  const put = (key: string, options: PutOptions = {}) => {
    const { reply = '{}', now = NOW, lifeMs = 1e6, scope = SCOPE, lasting = 0 } = options;
    const write = { scope, now, key, expiresAt: now + lifeMs, digest: 'd', reply, lasting };
    return tables.transaction(() => remember(tables, ['remember', write]));
  };
  const fill = (scope: ScopeFields, count: number, { from = NOW, bytes = 0, lasting = 0 } = {}) => {
    const reply = bytes > 0 ? `'"' || printf('%.${bytes}c', 'x') || '"'` : "'{}'";
    const scopePk = tables.heads.scopeOf(scope);
    const number = keyNumber(lasting, `(${from} + i)`, scopePk);
    db.exec(`INSERT INTO idempotency (pk, scope, key, expires, digest, reply, lasting)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT ${number}, ${scopePk}, 'old-' || i, ${from} + i, 'd', ${reply}, ${lasting} FROM n WHERE ${count} > 0`);
    tables = open();
  };
  fill(SCOPE, keys);
  const readStanding = (key: string, scope = SCOPE) => keyStanding(keyAt(tables, scope, key), undefined, NOW);
  const has = (key: string, scope = SCOPE) => readStanding(key, scope) === 'known';
  const keysOf = (scope: ScopeFields) =>
    db.prepare('SELECT count(*) AS keys FROM idempotency WHERE scope = ?').get(tables.heads.scopeOf(scope))?.keys;
  return { db, current: () => tables, put, fill, has, keysOf };
}

interface PutOptions {
  readonly reply?: string;
  readonly now?: number;
  readonly lifeMs?: number;
  readonly scope?: ScopeFields;
  readonly lasting?: 0 | 1;
}

/** Returns a reply of `count` MiB, as JSON. */
function mib(count: number): string {
  return `"${'x'.repeat(count * 1_048_576)}"`;
}

function sizesOf({ keys, bytes }: RememberedSizes) {
  return { keys, bytes };
}

it('drops the oldest keys beyond the limit, a few at once, and no others', () => {
  const { db, current, put, has } = world(REMEMBERED_LIMIT);
  for (let at = 0; at < 3; at++) put(`new-${at}`);
  const { keys } = current().counters.remembered[0];
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

it('a reply that is larger than all of the room is not kept, and drops nothing', () => {
  const { current, put, has } = world(3);
  put('k', { lifeMs: 0 });
  put('k', { reply: mib(65), now: NOW + 1 });
  expect([has('k'), has('old-1'), has('old-3')]).toEqual([false, true, true]);
  expect(current().counters.remembered[0].keys).toBe(3);
});

it('counts the bytes of keys as SQLite counts them, also of those that take the place of another', () => {
  const { db, current, put } = world();
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.json(),
      fc.constantFrom(1, 1e6),
      fc.constantFrom<[0 | 1, 0 | 1]>([0, 0], [0, 1], [1, 0], [1, 1]),
      (key, reply, lifeMs, [first, second]) => {
        put(key, { reply, lifeMs, lasting: first });
        put(key, { reply: '{"ü":1}', now: NOW + 2, lasting: second });
        for (const lasting of [0, 1] as const) {
          const read = new RememberedSizes(new Statements(db, () => {}), lasting);
          expect(sizesOf(current().counters.remembered[lasting])).toEqual(sizesOf(read));
        }
      },
    ),
  );
});

const BOB: ScopeFields = ['a', '', 'bob'];

it('an owner with much of the keys loses own ones before those of others', () => {
  const { put, has, keysOf } = world(REMEMBERED_LIMIT - 3);
  // It expires first.
  for (const key of ['one', 'two']) put(key, { scope: BOB, lifeMs: 0 });
  for (let at = 0; at < 3; at++) put(`new-${at}`);
  expect(keysOf(BOB)).toBe(2);
  expect([has('old-1'), has('new-2')]).toEqual([false, true]);
  for (let at = 0; at < 1_000; at++) put(`bob-${at}`, { scope: BOB });
  expect(keysOf(BOB)).toBe(1_002);
  expect([has('bob-0', BOB), has('bob-999', BOB)]).toEqual([true, true]);
});

it('an owner with large replies loses own keys before those of others', () => {
  const { put, has } = world(3);
  for (let at = 0; at < 9; at++) put(`bob-${at}`, { scope: BOB, reply: mib(7), now: NOW + 10 + at });
  expect(has('bob-0', BOB)).toBe(true);
  put('bob-9', { scope: BOB, reply: mib(7), now: NOW + 20 });
  expect([has('bob-0', BOB), has('bob-9', BOB)]).toEqual([false, true]);
  expect([has('old-1'), has('old-3')]).toEqual([true, true]);
});

it('an owner loses own keys only down to the share, and never the one that is written', () => {
  const { put, fill, has, keysOf } = world();
  const each = REMEMBERED_LIMIT / 10;
  for (let user = 0; user < 10; user++) fill(['a', '', `user ${user}`], user === 0 ? each - 9 : each);
  for (let at = 0; at < 9; at++) put(`bob-${at}`, { scope: BOB, reply: mib(1), lifeMs: 600_000 + at });
  put('now', { scope: BOB });
  // Eight of them are more than an eighth of 64 MiB.
  const [second, third, last, now] = ['bob-1', 'bob-2', 'bob-8', 'now'].map((key) => has(key, BOB));
  expect({ second, third, last, now }).toEqual({ second: false, third: true, last: true, now: true });
  // The other owners lose the rest.
  expect(has('old-1', ['a', '', 'user 1'])).toBe(false);
  expect(keysOf(['a', '', 'user 1'])).toBeGreaterThan(each - 100);
});

it('a key whose expiry is beyond that of a number is no lasting one, and the last that makes room', () => {
  const { current, put, fill, has } = world();
  put('late', { lifeMs: 2 ** 44 - NOW });
  expect(sweepKeys(current(), NOW, 10)).toBe(0);
  fill(SCOPE, REMEMBERED_LIMIT);
  put('next');
  expect([has('late'), has('old-1'), has('next')]).toEqual([true, false, true]);
});

it('the key that is written stays, though it expires before all others', () => {
  const { put, has } = world(REMEMBERED_LIMIT);
  put('short', { now: NOW - 10, lifeMs: 11 });
  expect([has('short'), has('old-1'), has('old-600')]).toEqual([true, false, true]);
  // The next search for the oldest keys finds this key.
  for (let at = 0; at < 600; at++) put(`new-${at}`);
  expect([has('short'), has('new-0')]).toEqual([false, true]);
});

it.each([['eve'], [null]])('an owner with many tenants and agents counts as one: %s', (owner) => {
  const { put, fill, has } = world(1);
  const tenants = Array.from({ length: 10 }, (_, at): ScopeFields => [`agent ${at % 2}`, `tenant ${at}`, owner]);
  for (const scope of tenants) fill(scope, REMEMBERED_LIMIT / 10, { from: 2_000 });
  for (const scope of tenants) put('new', { scope });
  expect(has('old-1')).toBe(true);
  expect(tenants.map((scope) => [has('old-1', scope), has('new', scope)])).toEqual(tenants.map(() => [false, true]));
});

it('no message pushes out a lasting key', () => {
  const { put, fill, has } = world();
  put('link', { lifeMs: 10, lasting: 1 });
  for (let user = 0; user < 10; user++) fill(['a', '', `user ${user}`], REMEMBERED_LIMIT / 10, { from: NOW + 100 });
  for (let at = 0; at < 1_000; at++) put(`new-${at}`);
  expect([has('link'), has('new-0'), has('old-1', ['a', '', 'user 1'])]).toEqual([true, true, false]);
});

it('an owner with much of the lasting keys loses own ones before those of others', () => {
  const { put, fill, has } = world();
  const link = { lifeMs: 10, lasting: 1 } as const;
  put('link', link);
  fill(BOB, REMEMBERED_LIMIT, { from: NOW + 100, lasting: 1 });
  put('next', { ...link, scope: BOB });
  expect([has('link'), has('old-1', BOB), has('next', BOB)]).toEqual([true, false, true]);
});

it('sweeps lasting keys as well, at most so many keys in all', () => {
  const { current, put, has } = world(3);
  for (const at of [1, 2, 3]) put(`link-${at}`, { lifeMs: at, lasting: 1 });
  const sweep = (now: number, limit: number) => current().transaction(() => sweepKeys(current(), now, limit));
  expect([sweep(NOW + 2, 3), sweep(NOW + 2, 3)]).toEqual([3, 1]);
  expect(['old-2', 'old-3', 'link-2', 'link-3'].map((key) => has(key))).toEqual([false, true, false, true]);
  expect(current().counters.remembered.map(({ keys }) => keys)).toEqual([1, 1]);
});

it('drops keys of an owner in about the same time, however many others have', () => {
  const costBeside = (others: number) => {
    const { current, put, fill } = world();
    for (let user = 0; user < 10; user++) fill(['a', '', `user ${user}`], others / 10);
    fill(BOB, 5_700, { from: 500_000, bytes: 10_000 });
    const reply = `"${'x'.repeat(10_000)}"`;
    let at = 0;
    const next = () => put(`bob-${at++}`, { scope: BOB, reply });
    while (current().counters.remembered[0].bytes < 67_108_864 - 11_000) next();
    next();
    const times = Array.from({ length: 50 }, () => {
      const before = performance.now();
      next();
      return performance.now() - before;
    });
    return Math.min(...times);
  };
  expect(costBeside(80_000)).toBeLessThan(10 * costBeside(100));
});

it('counts nothing of a transaction that was undone, and finds its keys again', () => {
  const { current, put, has } = world(REMEMBERED_LIMIT);
  const tables = current();
  const before = sizesOf(tables.counters.remembered[0]);
  const write = {
    scope: SCOPE,
    now: NOW,
    key: 'k',
    expiresAt: 2_000_000,
    digest: 'd',
    reply: '{}',
    lasting: 0,
  } as const;
  expect(() =>
    tables.transaction(() => {
      remember(tables, ['remember', write]);
      throw new Error('undone');
    }),
  ).toThrow('undone');
  expect(sizesOf(tables.counters.remembered[0])).toEqual(before);
  expect(has('old-1')).toBe(true);
  put('k');
  expect([has('old-1'), has('old-500'), has('old-502')]).toEqual([false, false, true]);
});
