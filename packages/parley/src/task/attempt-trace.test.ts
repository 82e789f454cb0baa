import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../model/json.js';
import { attemptTrace, callTrace, TRACE_METADATA, traceIdOf } from './attempt-trace.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const STORED = { traceparent: TRACEPARENT, turn: 2, attempt: 1, handOvers: 0, since: 5 };
const CALL = { traceparent: TRACEPARENT, method: 'SendMessage', since: 6 };
const read = (value: JsonValue) => attemptTrace({ [TRACE_METADATA]: value });

describe('the stored trace of an attempt', () => {
  it('has its numbers, the attempt before and a waiting call', () => {
    expect(read(STORED)).toEqual(STORED);
    expect(read({ ...STORED, before: TRACEPARENT, call: CALL })).toEqual({
      ...STORED,
      before: TRACEPARENT,
      call: CALL,
    });
    expect(read({ ...STORED, call: { ...CALL, parent: 'p' } })?.call).toEqual({ ...CALL, parent: 'p' });
    expect(attemptTrace(callTrace(TRACEPARENT, 7))).toMatchObject({ traceparent: TRACEPARENT, attempt: 0, since: 7 });
  });

  // A client may send metadata of this name, and an agent may write it.
  it.each<[string, JsonValue]>([
    ['a text', TRACEPARENT],
    ['a list', [STORED]],
    ['null', null],
    ['no `traceparent`', { ...STORED, traceparent: null }],
    ['a long `traceparent`', { ...STORED, traceparent: 'x'.repeat(65) }],
    ['a turn that is no number', { ...STORED, turn: '2' }],
    ['half an attempt', { ...STORED, attempt: 0.5 }],
    ['an unsafe time', { ...STORED, since: 2 ** 53 }],
    ['no hand-overs', { traceparent: TRACEPARENT, turn: 2, attempt: 1, since: 5 }],
  ])('is absent for %s', (_name, value) => {
    expect(read(value)).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['a long attempt before', { before: 'x'.repeat(65) }],
    ['a call that is a text', { call: 'SendMessage' }],
    ['a call without a method', { call: { traceparent: TRACEPARENT, since: 6 } }],
    ['a call with a long method', { call: { ...CALL, method: 'x'.repeat(65) } }],
    ['a call without a time', { call: { ...CALL, since: null } }],
  ])('leaves out %s', (_name, extra) => {
    expect(read({ ...STORED, ...extra })).toEqual(STORED);
  });

  it('may have texts of 64 characters', () => {
    const longest = 'x'.repeat(64);
    expect(read({ ...STORED, before: longest })?.before).toBe(longest);
  });
});

it('a task without a trace has no trace id', () => {
  expect(traceIdOf({})).toBeUndefined();
  expect(traceIdOf({ metadata: {} })).toBeUndefined();
  expect(traceIdOf({ metadata: { [TRACE_METADATA]: STORED } })).toBe('0af7651916cd43dd8448eb211c80319c');
});
