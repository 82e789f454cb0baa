import { expect, it } from 'vitest';
import { A2AError } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import {
  type FailedOutcome,
  FIRST_STATE,
  nextState,
  type OutcomesByStep,
  type StreamFacts,
  type StreamOutcome,
  type StreamRules,
  type StreamState,
  type StreamTries,
} from './stream-policy.js';

type StepName = keyof OutcomesByStep;

const ERRORS = {
  transient: new ConnectionError('lost', { sent: true }),
  refused: new A2AError('UNSUPPORTED_OPERATION', 'not offered'),
  lasting: new A2AError('INVALID_AGENT_RESPONSE', 'not JSON'),
  expired: new DOMException('too long', 'TimeoutError'),
};

/** The outcomes of a step by name: a failure has one name for each kind of error. */
type OutcomeName<Outcome> = Outcome extends string
  ? Outcome
  : Outcome extends FailedOutcome
    ? keyof typeof ERRORS
    : never;

/** Conditions that differ from a running turn on its first connection. */
interface Given extends Partial<StreamTries>, Partial<Omit<StreamRules, 'attempts' | 'hasTaken'>> {
  readonly facts?: 'isOver' | 'asksForInput' | 'asksForLogin';
  readonly isUnnamed?: boolean;
  readonly mustCheck?: boolean;
  /** Failed checks so far. */
  readonly checks?: number;
  /** The check began at an open connection. */
  readonly isOpen?: boolean;
}

type Case = readonly [given: Given, step: StreamState['step'], more?: object];

const ATTEMPTS = 3;
const LOST: Given = { stale: 2, failed: 2, breaks: 4 };
const RECONNECTED: Given = { breaks: 1 };

const FAILED_READ: Record<keyof typeof ERRORS, readonly Case[]> = {
  transient: [
    [{}, 'pause', { attempt: 1, next: { step: 'subscribe', tries: tries({ stale: 1, failed: 1, breaks: 1 }) } }],
    [LOST, 'pause', { attempt: 3, next: { step: 'subscribe', tries: tries({ stale: 3, failed: 3, breaks: 5 }) } }],
    [{ ...LOST, stale: 9 }, 'pause', { attempt: 10 }],
    [{ ...LOST, failed: 3 }, 'fail', { error: ERRORS.transient }],
    [{ isUnnamed: true }, 'fail', { error: ERRORS.transient }],
    [{ isUnnamed: true, repeatable: true }, 'pause', { next: { step: 'open', tries: { breaks: 1 } } }],
    [{ ...LOST, resumable: false }, 'poll', { tries: tries({ ...LOST, polled: true }) }],
    [{ ...LOST, resumable: false, polled: true }, 'pause'],
    [{ ...LOST, failed: 0, resumable: false }, 'pause'],
    [{ failed: 1, stale: 1, resumable: false }, 'pause'],
    [{ facts: 'isOver' }, 'end'],
    [{ facts: 'asksForInput' }, 'end'],
    [{ facts: 'asksForInput', mustCheck: true }, 'check', { failed: 0, fault: ERRORS.transient }],
    [{ facts: 'asksForLogin' }, 'pause'],
  ],
  refused: [
    [{}, 'fail', { error: ERRORS.refused }],
    [RECONNECTED, 'poll'],
    [{ ...RECONNECTED, polled: true }, 'fail'],
    [{ ...RECONNECTED, isUnnamed: true }, 'fail'],
    [{ ...RECONNECTED, facts: 'isOver' }, 'end'],
  ],
  lasting: [
    [{}, 'fail', { error: ERRORS.lasting }],
    [{ ...LOST, resumable: true }, 'fail'],
    [{ facts: 'isOver' }, 'end'],
    [{ facts: 'asksForInput' }, 'end'],
  ],
  expired: [
    [{}, 'fail', { error: ERRORS.expired }],
    [{ facts: 'asksForInput' }, 'fail'],
    [{ facts: 'isOver' }, 'end'],
  ],
};

const READ: Pairs['read'] = {
  news: [
    [{}, 'deliver', { tries: tries({}) }],
    [{ ...LOST, polled: true }, 'deliver', { tries: tries({ breaks: 4, polled: true }) }],
    [{ facts: 'isOver' }, 'deliver'],
  ],
  stale: [
    [{}, 'read'],
    [LOST, 'read', { tries: tries({ stale: 2, breaks: 4 }) }],
    [{ facts: 'isOver' }, 'drain'],
    [{ facts: 'asksForInput' }, 'read'],
    [{ ...RECONNECTED, facts: 'asksForInput' }, 'end'],
  ],
  closed: [
    [{}, 'pause', { attempt: 1, fault: { message: 'The stream ended before its task did' } }],
    [{ ...LOST, failed: 3 }, 'fail'],
    [{ facts: 'isOver' }, 'end'],
    [{ facts: 'asksForInput' }, 'end'],
    [{ facts: 'asksForInput', mustCheck: true }, 'check', { fault: { code: 'UNAVAILABLE' } }],
    [{ facts: 'asksForLogin' }, 'end'],
    [{ facts: 'asksForLogin', span: 'task', resumable: false }, 'end'],
    [{ facts: 'asksForLogin', span: 'task', resumable: true }, 'pause'],
  ],
  ...FAILED_READ,
};

type Pairs = {
  readonly [Name in StepName]: { readonly [Outcome in OutcomeName<OutcomesByStep[Name]>]: readonly Case[] };
};

/** All pairs of step and outcome. A pair that is not here does not compile. */
const PAIRS: Pairs = {
  open: READ,
  subscribe: READ,
  read: READ,
  drain: READ,
  poll: READ,
  deliver: {
    wanted: [
      [{}, 'read'],
      [{ facts: 'isOver' }, 'drain'],
      [{ facts: 'asksForInput' }, 'read'],
      [{ ...RECONNECTED, facts: 'asksForInput' }, 'end'],
      [{ ...RECONNECTED, facts: 'asksForInput', mustCheck: true }, 'check', { failed: 0, fault: undefined }],
      [{ ...RECONNECTED, facts: 'asksForLogin' }, 'read'],
    ],
  },
  check: {
    'turn over': [[{}, 'end']],
    'turn open': [
      [{}, 'pause', { next: { step: 'subscribe' } }],
      [{ isOpen: true }, 'read'],
      [{ ...LOST, failed: 3 }, 'fail', { error: ERRORS.transient }],
    ],
    transient: [
      [{}, 'pause', { attempt: 1, next: { step: 'check', failed: 1, fault: ERRORS.transient } }],
      [{ checks: 2 }, 'pause', { attempt: 3 }],
      [{ checks: 3 }, 'fail', { error: ERRORS.transient }],
    ],
    refused: [[RECONNECTED, 'fail', { error: ERRORS.refused }]],
    lasting: [[{}, 'fail', { error: ERRORS.lasting }]],
    expired: [[{}, 'fail', { error: ERRORS.expired }]],
  },
  pause: {
    paused: [[{}, 'subscribe', { tries: tries({ breaks: 7 }) }]],
    // A pause fails only if the caller aborts or the time is over.
    transient: [[{}, 'pause']],
    refused: [[{}, 'fail']],
    lasting: [[{}, 'fail']],
    expired: [[{}, 'fail', { error: ERRORS.expired }]],
  },
  end: {},
  fail: {},
};

function tries({ stale = 0, failed = 0, breaks = 0, polled = false }: Given): StreamTries {
  return { stale, failed, breaks, polled };
}

function factsOf({ facts, isUnnamed, mustCheck, ...rules }: Given): StreamFacts {
  const { span = 'turn', resumable = true, repeatable = false } = rules;
  return {
    rules: { span, resumable, repeatable, attempts: ATTEMPTS, hasTaken: mustCheck === true ? () => true : undefined },
    taskId: isUnnamed === true ? undefined : 't',
    isOver: facts === 'isOver',
    isWaiting: facts === 'asksForInput' || facts === 'asksForLogin',
    asksForInput: facts === 'asksForInput',
  };
}

function stateOf(step: StepName, given: Given): StreamState {
  const counted = Object.freeze(tries(given));
  switch (step) {
    case 'check':
      return {
        step,
        tries: counted,
        failed: given.checks ?? 0,
        fault: given.isOpen === true ? undefined : ERRORS.transient,
      };
    case 'pause':
      return {
        step,
        tries: counted,
        attempt: 1,
        fault: ERRORS.transient,
        next: { step: 'subscribe', tries: tries({ breaks: 7 }) },
      };
    case 'fail':
      return { step, tries: counted, error: ERRORS.lasting };
    default:
      return { step, tries: counted };
  }
}

function outcomeOf(name: string): StreamOutcome {
  if (!(name in ERRORS)) return name as StreamOutcome;
  return { error: ERRORS[name as keyof typeof ERRORS], expired: name === 'expired' };
}

const ROWS = Object.entries(PAIRS).flatMap(([step, outcomes]) =>
  Object.entries<readonly Case[]>(outcomes).map(([name, cases]) => ({ step: step as StepName, name, cases })),
);

it.each(ROWS)('after the outcome "$name" of the step $step', ({ step, name, cases }) => {
  for (const [given, next, more = {}] of cases) {
    const state = Object.freeze(stateOf(step, given));
    const got = nextState(state, outcomeOf(name), Object.freeze(factsOf(given)));
    expect(got, JSON.stringify(given)).toMatchObject({ step: next, ...more });
  }
});

it('a stream fails after its attempts, and batches without news keep it alive', () => {
  const facts = factsOf({});
  const after = (state: StreamState, outcome: StreamOutcome): StreamState => {
    const next = nextState(state, outcome, facts);
    return next.step === 'pause' ? nextState(next, 'paused', facts) : next;
  };
  let state: StreamState = FIRST_STATE;
  for (let count = 0; count < 10; count++) state = after(after(state, 'stale'), outcomeOf('transient'));
  expect(state).toEqual({ step: 'subscribe', tries: tries({ stale: 10, failed: 1, breaks: 10 }) });
  const steps: string[] = [];
  while (state.step === 'subscribe') {
    state = after(state, outcomeOf('transient'));
    steps.push(state.step);
  }
  expect(steps).toEqual(['subscribe', 'subscribe', 'fail']);
});

it('a healthy stream makes no new counters per batch', () => {
  const facts = factsOf({});
  const delivered = nextState(FIRST_STATE, 'news', facts);
  expect(delivered.tries).toBe(FIRST_STATE.tries);
  expect(nextState(delivered, 'wanted', facts).tries).toBe(FIRST_STATE.tries);
});
