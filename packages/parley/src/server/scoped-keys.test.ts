import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InvalidParamsError } from '../errors/standard-errors.js';
import type { Message } from '../model/message.js';
import { isSameTask, type TaskKey, taskKeyText } from '../store/task-key.js';
import { Idempotency } from './idempotency.js';
import { decodePageToken, encodePageToken } from './page-token.js';

/** Strings that look like parts of a key: numbers, separators, `-` for anonymous callers. */
const odd = fc.oneof(
  fc.string({ unit: fc.constantFrom(' ', '/', '-', '0', '1', '2', 'a', '"', '|', '\0', '\u{10000}'), maxLength: 6 }),
  fc.constantFrom('', '-', 'null', 'undefined', '1 a', '1 a/1 b', 'a b'),
);
const keys: fc.Arbitrary<TaskKey> = fc.record({
  scope: fc.record({ agent: odd, tenant: odd, owner: fc.option(odd) }),
  id: odd,
});
const runs = { numRuns: 20_000, seed: 13 };

it('gives two tasks one text only if they are the same task', () => {
  fc.assert(
    fc.property(keys, keys, (one, other) => (taskKeyText(one) === taskKeyText(other)) === isSameTask(one, other)),
    runs,
  );
});

it.each<[TaskKey, TaskKey]>([
  [key({ agent: 'a b', tenant: 't' }, 'c'), key({ agent: 'a', tenant: 't' }, 'b c')],
  [key({ owner: null }, 'x'), key({ owner: '-' }, 'x')],
  [key({ owner: 'o', tenant: 'x' }, 'x'), key({ owner: 'o/1 x' }, 'x')],
])('keeps %j and %j apart', (one, other) => {
  expect(taskKeyText(one)).not.toBe(taskKeyText(other));
});

function key(scope: Partial<TaskKey['scope']>, id: string): TaskKey {
  return { scope: { agent: 'a', tenant: '', owner: null, ...scope }, id };
}

/** Ids with the form of keys of messages and of authorizations. */
const oddIds = fc.oneof(
  odd,
  fc.constantFrom(' =', ' t1:a', ' c1:a b', 't1:a b', ' authorization x', 'authorization x'),
);
const messages: fc.Arbitrary<Message> = fc.record({
  messageId: oddIds,
  taskId: oddIds,
  contextId: oddIds,
  role: fc.constant('ROLE_USER'),
  parts: fc.constant([]),
});

it('gives two messages one key only if they have the same id for the same task or context', () => {
  const idempotency = new Idempotency({ anonymous: true });
  const keyOf = (message: Message) => idempotency.keyOf({ agent: 'a', tenant: '', owner: 'ann' }, message)?.key;
  const placeOf = ({ messageId, taskId, contextId }: Message) => [messageId, taskId, taskId ? '' : contextId];
  fc.assert(
    fc.property(messages, messages, (one, other) => {
      expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(placeOf(one)) === JSON.stringify(placeOf(other)));
      expect(keyOf(one)).not.toMatch(/^ authorization /);
    }),
    runs,
  );
});

it('takes a page token only for the list that it was made for (Spec §3.1.4)', () => {
  const place = { time: 1, id: 't' };
  fc.assert(
    fc.property(keys, keys, (one, other) => {
      const [mine, foreign] = [
        { scope: one.scope, request: {} },
        { scope: other.scope, request: {} },
      ];
      const token = encodePageToken(place, mine);
      expect(decodePageToken(token, mine)).toEqual(place);
      const isMine = isSameTask({ ...one, id: '' }, { ...other, id: '' });
      if (!isMine) expect(() => decodePageToken(token, foreign)).toThrow(InvalidParamsError);
    }),
    { ...runs, numRuns: 2_000 },
  );
});

const list = { scope: { agent: 'a', tenant: '', owner: null }, request: {} };

it.each(['任务-1', 'ü', '\u{10000}', '%', '"', '', '%zz'])('makes a page token after a task called %j', (id) => {
  expect(decodePageToken(encodePageToken({ time: 1, id }, list), list)).toEqual({ time: 1, id });
});

it.each(['1.5', '1e300', '-1e300', '9007199254740993', '"1"', 'null', '-0', '01'])(
  'takes no page token with the time %s, which no storage has given',
  (time) => {
    const made = atob(encodePageToken({ time: 1, id: 't' }, list));
    expect(() => decodePageToken(btoa(made.replace('[1,', `[${time},`)), list)).toThrow(InvalidParamsError);
  },
);

it.each([(token: string) => ` ${token}`, (token: string) => `${token}=`, (token: string) => `${token}!`])(
  'takes no page token in another spelling',
  (change) => {
    const token = encodePageToken({ time: 12, id: 't' }, list);
    expect(decodePageToken(token, list)).toEqual({ time: 12, id: 't' });
    expect(() => decodePageToken(change(token), list)).toThrow(InvalidParamsError);
  },
);
