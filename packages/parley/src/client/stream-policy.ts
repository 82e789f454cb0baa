import { A2AError, type ErrorCode } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import type { Task } from '../model/task.js';
import { isTransient } from './send-retries.js';

/** The end of a stream: a message's stream ends with its turn, a task's stream with the task (Spec §3.1.2). */
type StreamSpan = 'turn' | 'task';

/** Fixed conditions of a stream. */
export interface StreamRules {
  readonly span: StreamSpan;
  /** Attempts in a row without any answer before the stream fails. */
  readonly attempts: number;
  /** True if the agent continues after `Last-Event-ID`. */
  readonly resumable: boolean;
  /** True if the first call may be repeated although the agent may have received it before. */
  readonly repeatable: boolean;
  /**
   * Returns true if the message is in the history of the task. Undefined if a question always ends the turn: the
   * message began the task, or the agent may not keep all messages.
   */
  readonly hasTaken: ((task: Task) => boolean) | undefined;
}

/** Facts about the task, as the events so far have shown them. */
export interface StreamFacts {
  readonly rules: StreamRules;
  readonly taskId: string | undefined;
  /** True if nothing can follow: the task has ended, or the answer was a message. */
  readonly isOver: boolean;
  /** True if the task waits for its caller. */
  readonly isWaiting: boolean;
  /** True if the task waits for input in a message's stream: the turn is over, but the task is not. */
  readonly asksForInput: boolean;
}

/** Steps that read a batch of events. */
export type ReadStep = 'open' | 'subscribe' | 'read' | 'drain' | 'poll';

/** Counters of lost connections. */
export interface StreamTries {
  /** Connections in a row without a new event. */
  readonly stale: number;
  /** Connections in a row without any answer. */
  readonly failed: number;
  /** Reconnections since the stream began. */
  readonly breaks: number;
  /** True if the task was polled since the last reconnection. */
  readonly polled: boolean;
}

interface Step<Name extends string> {
  readonly step: Name;
  readonly tries: StreamTries;
}

/**
 * Checks by GetTask that the agent has handled the message. `fault` ended the connection; undefined if it is still
 * open.
 */
interface CheckStep extends Step<'check'> {
  readonly failed: number;
  readonly fault: unknown;
}

/** A wait before `next`. */
export interface PauseStep extends Step<'pause'> {
  readonly attempt: number;
  readonly fault: A2AError;
  readonly next: StreamState;
}

/** The error that the caller gets. */
interface FailStep extends Step<'fail'> {
  readonly error: unknown;
}

/**
 * The next action of a stream, with the counters that later decisions need.
 *
 * - `open` makes the first call, `subscribe` subscribes to the task; both read the first batch.
 * - `read` reads the next batch; `drain` does the same, but soon closes the connection.
 * - `poll` gets the task and treats it as an event.
 * - `deliver` gives the caller the events that have arrived.
 * - `check` asks whether the message has had its turn, `pause` waits.
 * - `end` and `fail` are final.
 */
export type StreamState = Step<ReadStep | 'deliver' | 'end'> | CheckStep | PauseStep | FailStep;

/** The outcomes that each step can have. The final steps have none. */
export interface OutcomesByStep {
  readonly open: ReadOutcome;
  readonly subscribe: ReadOutcome;
  readonly read: ReadOutcome;
  readonly drain: ReadOutcome;
  readonly poll: ReadOutcome;
  /** The caller has all events and asks for more. */
  readonly deliver: 'wanted';
  readonly check: 'turn over' | 'turn open' | FailedOutcome;
  readonly pause: 'paused' | FailedOutcome;
  readonly end: never;
  readonly fail: never;
}

/** A batch with a new event, a batch without one, or the end of the connection. */
type ReadOutcome = 'news' | 'stale' | 'closed' | FailedOutcome;

/** An error; `expired` if the time limit passed or the caller aborted. */
export interface FailedOutcome {
  readonly error: unknown;
  readonly expired: boolean;
}

/** The outcome of an action. */
export type StreamOutcome = OutcomesByStep[keyof OutcomesByStep];

/** The state of a stream before its first action. */
export const FIRST_STATE: StreamState = {
  step: 'open',
  tries: { stale: 0, failed: 0, breaks: 0, polled: false },
};

/** Errors that refuse a subscription because there is nothing to follow. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_PARAMS',
  'TASK_NOT_FOUND',
]);

/** Decides the next action of a stream. Pure: the same state, outcome and facts give the same result. */
export function nextState<Name extends keyof OutcomesByStep>(
  state: StreamState & { readonly step: Name },
  outcome: OutcomesByStep[Name],
  facts: StreamFacts,
): StreamState;
export function nextState(state: StreamState, outcome: StreamOutcome, facts: StreamFacts): StreamState {
  if (typeof outcome === 'object') return afterFailure(state, outcome, facts);
  const decide = AFTER[state.step as keyof typeof AFTER] as Decision<StreamState, StreamOutcome>;
  return decide(state, outcome, facts);
}

type Decision<State, Outcome> = (state: State, outcome: Outcome, facts: StreamFacts) => StreamState;

/** The action after each outcome that is no failure. The final steps have no outcome. */
const AFTER: {
  readonly [Name in Exclude<keyof OutcomesByStep, 'end' | 'fail'>]: Decision<
    StreamState & { readonly step: Name },
    Exclude<OutcomesByStep[Name], FailedOutcome>
  >;
} = {
  open: afterRead,
  subscribe: afterRead,
  read: afterRead,
  drain: afterRead,
  poll: afterRead,
  deliver: ({ tries }, _, facts) => readOn(tries, facts),
  check: ({ tries, fault }, outcome, facts) => {
    if (outcome === 'turn over') return { step: 'end', tries };
    outcome satisfies 'turn open';
    return fault === undefined ? { step: 'read', tries } : recover(tries, fault, facts);
  },
  pause: ({ next }) => next,
};

function afterRead(
  { tries }: StreamState,
  outcome: Exclude<ReadOutcome, FailedOutcome>,
  facts: StreamFacts,
): StreamState {
  switch (outcome) {
    case 'news':
      return { step: 'deliver', tries: tries.stale > 0 ? { ...tries, stale: 0, failed: 0 } : tries };
    case 'stale':
      return readOn(tries.failed > 0 ? { ...tries, failed: 0 } : tries, facts);
    case 'closed': {
      // Agents differ in the states at which they close a stream.
      const { isWaiting, asksForInput, rules } = facts;
      const hasEnded = isWaiting && !asksForInput && (rules.span === 'turn' || !rules.resumable);
      if (facts.isOver || hasEnded) return { step: 'end', tries };
      return afterBreak(tries, new ConnectionError('The stream ended before its task did', { sent: true }), facts);
    }
  }
}

function afterFailure(state: StreamState, { error, expired }: FailedOutcome, facts: StreamFacts): StreamState {
  const { tries } = state;
  if (expired) return facts.isOver ? { step: 'end', tries } : { step: 'fail', tries, error };
  return state.step === 'check' ? checkAgain(state, error, facts) : afterBreak(tries, error, facts);
}

/** Continues on the open connection. */
function readOn(tries: StreamTries, facts: StreamFacts): StreamState {
  // An agent may keep a stream open after a question. Only after a reconnection the client does not wait for its end.
  if (tries.breaks > 0 && facts.asksForInput) return afterQuestion(tries, undefined, facts);
  return { step: facts.isOver ? 'drain' : 'read', tries };
}

function afterBreak(tries: StreamTries, fault: unknown, facts: StreamFacts): StreamState {
  if (facts.isOver) return { step: 'end', tries };
  return facts.asksForInput ? afterQuestion(tries, fault, facts) : recover(tries, fault, facts);
}

function afterQuestion(tries: StreamTries, fault: unknown, { rules }: StreamFacts): StreamState {
  return rules.hasTaken !== undefined ? { step: 'check', tries, failed: 0, fault } : { step: 'end', tries };
}

function checkAgain(check: CheckStep, fault: unknown, { rules }: StreamFacts): StreamState {
  const { tries } = check;
  const attempt = check.failed + 1;
  if (!isTransient(fault) || attempt > rules.attempts) return { step: 'fail', tries, error: fault };
  return { step: 'pause', tries, attempt, fault, next: { ...check, failed: attempt } };
}

/** Finds the way to a new connection. A task is polled at most once between two connections. */
function recover(old: StreamTries, fault: unknown, { taskId, rules }: StreamFacts): StreamState {
  const { stale, failed, breaks, polled } = old;
  if (
    breaks > 0 &&
    !polled &&
    taskId !== undefined &&
    ((failed > 0 && !rules.resumable) || (fault instanceof A2AError && REFUSALS.has(fault.code)))
  )
    return { step: 'poll', tries: { ...old, polled: true } };
  const tries = { ...old, stale: stale + 1, failed: failed + 1 };
  if (!isTransient(fault) || failed >= rules.attempts || (taskId === undefined && !rules.repeatable))
    return { step: 'fail', tries, error: fault };
  const step = taskId === undefined ? 'open' : 'subscribe';
  const next: StreamState = { step, tries: { ...tries, breaks: breaks + 1, polled: false } };
  return { step: 'pause', tries, attempt: tries.stale, fault, next };
}
