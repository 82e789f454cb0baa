import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../model/json.js';
import type { Claim } from '../../store/held-turn.js';
import { attemptTrace, TRACE_METADATA, traceIdOf } from '../../task/attempt-trace.js';
import { lostAttempt, TurnTrace } from './turn-trace.js';

const TIME = '2026-01-01T00:00:00.000Z';
const CAUSE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const FIRST = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
const caller = { extensions: [], version: '1.0', traceparent: CAUSE };

function claimOf(over: Partial<Claim>, metadata?: JsonObject): Claim {
  return {
    scope: { agent: '/', tenant: '', owner: null },
    task: {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING', timestamp: TIME },
      ...(metadata && { metadata }),
    },
    seq: 1,
    epoch: 1,
    turn: 1,
    attempt: 2,
    handOvers: 0,
    message: { messageId: 'm', role: 'ROLE_USER', parts: [] },
    caller,
    began: true,
    ...over,
  };
}

/** The metadata that an attempt stores. */
function storedTrace(claim: Partial<Claim>, before?: JsonObject): JsonObject {
  const trace = new TurnTrace(caller, before);
  trace.begin(FIRST, 1_000, { traceparent: CAUSE, method: 'SendMessage', since: 900 });
  return trace.takeNote(claimOf({ attempt: 1, ...claim })) ?? {};
}

describe('the attempt before a claim', () => {
  it('is lost if its process has died, with the trace that it stored', () => {
    expect(lostAttempt(claimOf({}, storedTrace({})), 'run')).toMatchObject({
      attempt: 1,
      since: 1_000,
      fate: 'run',
      cause: { traceparent: CAUSE },
      trace: { traceparent: FIRST, call: { traceparent: CAUSE, method: 'SendMessage' } },
    });
  });

  it('is lost without a trace if it stored none: that of another turn or attempt is not its own', () => {
    for (const metadata of [undefined, storedTrace({ turn: 2 }), storedTrace({ attempt: 3 })])
      expect(lostAttempt(claimOf({}, metadata), 'run')).toMatchObject({ trace: undefined, since: Date.parse(TIME) });
  });

  it('is not lost if it was handed over, or if there is none', () => {
    expect(lostAttempt(claimOf({ handOvers: 1 }, storedTrace({})), 'run')).toBeUndefined();
    expect(lostAttempt(claimOf({ handOvers: 1 }), 'run')).toBeUndefined();
    expect(lostAttempt(claimOf({ attempt: 1 }), 'run')).toBeUndefined();
    expect(
      lostAttempt(claimOf({ attempt: 3, handOvers: 1 }, storedTrace({ attempt: 2, handOvers: 1 })), 'run'),
    ).toBeDefined();
  });
});

it('a trace is stored once, and names the one before it', () => {
  const trace = new TurnTrace(caller, storedTrace({}));
  const next = `00-${'e'.repeat(32)}-${'f'.repeat(16)}-01`;
  trace.begin(next, 2_000);
  const metadata = trace.takeNote(claimOf({}));
  expect(attemptTrace(metadata)).toEqual({
    traceparent: next,
    turn: 1,
    attempt: 2,
    handOvers: 0,
    since: 2_000,
    before: FIRST,
  });
  expect(trace.takeNote(claimOf({}))).toBeUndefined();
});

it('metadata of strangers are no trace', () => {
  const whole = { traceparent: FIRST, turn: 1, attempt: 1, handOvers: 0, since: 1 };
  for (const forged of [1, [], {}, { ...whole, traceparent: 'x'.repeat(65) }, { ...whole, since: 'now' }])
    expect(attemptTrace({ [TRACE_METADATA]: forged })).toBeUndefined();
  expect(
    traceIdOf({ metadata: { [TRACE_METADATA]: { ...whole, traceparent: 'javascript:alert(1)' } } }),
  ).toBeUndefined();
  expect(traceIdOf({ metadata: { [TRACE_METADATA]: whole } })).toBe('c'.repeat(32));
});
