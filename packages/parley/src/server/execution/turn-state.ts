import type { TaskState } from '../../model/task-state.js';
import type { ReleaseHow } from '../../store/held-turn.js';
import type { TurnAbortReason } from '../turn-aborted-error.js';
import { IMPOSSIBLE, REFUSAL, TRANSITIONS } from './turn-transitions.js';

/**
 * States of a turn whose task is stored and whose agent is not called.
 * - `claimed`: this process holds the turn and has not called the agent yet
 * - `kept`: the turn was taken over while its task waits for an authorization
 * - `handing back`: the turn goes back to the storage, and has used no attempt
 */
type QuietState = 'claimed' | 'kept' | 'handing back';

/**
 * States of a stored turn whose agent was called. In all but `leaving` and `handing over` it may still run.
 * - `open`: the turn has no record yet
 * - `running`: the turn has a record and the agent works
 * - `asking`: the task is AUTH_REQUIRED and waits for its caller while the agent works
 * - `canceling`: the agent was told to stop and has the grace to do so
 * - `asked`: the task is INPUT_REQUIRED and the agent has the grace to return
 * - `ending`: the agent has published a final state and has the grace to return
 * - `leaving`: the last commit takes the turn out of the storage
 * - `handing over`: the turn goes back to the storage for another process
 */
export type LiveState = 'open' | 'running' | 'asking' | 'canceling' | 'asked' | 'ending' | 'leaving' | 'handing over';

/**
 * States of a turn that this process no longer writes.
 * - `lingering`: the turn is over and its agent has the grace to return
 * - `ended`: the turn is over
 * - `handed over`: the storage has the turn for another process
 * - `lost`: another process may write the turn
 */
type OverState = 'lingering' | 'ended' | 'handed over' | 'lost';

/**
 * The state of a turn. A `drafted` turn has a message and no task, and its agent is not called yet. In `draft` its
 * agent runs. In `storing …` the task is on its way into the storage. The rest of the name is the state that follows.
 */
export type TurnState = 'drafted' | 'draft' | QuietState | `storing ${LiveState}` | LiveState | OverState;

/** Events of an agent as a turn sees them. `terminal` is any terminal state but REJECTED. */
export type AgentEventInput =
  | 'chunk'
  | 'announced'
  | 'working'
  | 'login'
  | 'question'
  | 'rejected'
  | 'terminal'
  | 'message'
  | 'invalid'
  | 'too fast'
  | 'too large';

/** Events, errors and the progress of the agent. */
type AgentInput =
  | AgentEventInput
  /** The agent has returned a promise. */
  | 'suspended'
  /** The microtask after that has come. */
  | 'first step over'
  | 'returned'
  | 'threw'
  | 'threw A2AError'
  /** The agent did not catch that its caller has refused to authorize it. */
  | 'threw denied'
  /** The agent did not catch that its caller has not authorized it in time. */
  | 'threw expired'
  /** The agent threw outside of its promise: it may still work. */
  | 'threw elsewhere'
  /** The models of the turn have used up a budget of tokens. */
  | 'over budget';

/** Requests of the process: of its list of turns, its heartbeat and its shutdown. */
type OwnerInput =
  /** Count the attempt in the storage, then run. */
  | 'begin'
  | 'run'
  /** End the turn and leave the task as it is. */
  | 'leave'
  | 'interrupted'
  | 'exhausted'
  /** Hold the turn without its agent: its task waits for an authorization. */
  | 'keep'
  /** The caller has not authorized the agent of a kept turn in time. */
  | 'expired'
  /** A message of the caller came instead of the authorization. */
  | 'replaced'
  | 'cancel'
  | 'hand over'
  /** The process waits no longer for the storage: it closes, or the lease of the turn ends. */
  | 'give up'
  /** The storage says that this process does not hold the turn. */
  | 'not held';

/** The timer of that name has come. */
type TimerInput = TurnTimer;

type StorageInput =
  | 'stored'
  | 'store overdue'
  | 'store failed'
  /** All records so far are committed, or none can be committed any more. */
  | 'flushed'
  | 'released'
  | 'release failed'
  /** The last commit has taken the turn out of the storage. */
  | 'left'
  /** The storage refuses a commit: another process writes the turn. */
  | 'fenced';

/** Everything that can happen to a turn. */
export type TurnInput = AgentInput | OwnerInput | TimerInput | StorageInput;

/** The timer of a turn. At most one runs: each start replaces the one before. */
export type TurnTimer = 'deadline' | 'expiry' | 'grace';

/** The answer to the caller of a draft: the direct message, the claim of its task, or an error. */
export type TurnAnswer = 'reply' | 'claim' | 'error' | 'closing' | 'stalled';

/** One thing that the runner of a turn does. Effects are constants; the data of an input stay with the runner. */
export type TurnEffect =
  | { readonly do: 'count attempt' }
  | { readonly do: 'call agent' }
  | { readonly do: 'await first step' }
  | { readonly do: 'abort agent'; readonly why: TurnAbortReason }
  | { readonly do: 'call cancel of agent' }
  /** From here on, errors of the agent are only logged. */
  | { readonly do: 'release agent' }
  | { readonly do: 'log late error' }
  | { readonly do: 'start timer'; readonly timer: TurnTimer }
  | { readonly do: 'stop timer' }
  | { readonly do: 'store task' }
  /** The claim has come: events that waited for it become records. */
  | { readonly do: 'open log' }
  | { readonly do: 'append event' }
  | { readonly do: 'append status'; readonly state: TaskState; readonly text?: string }
  /** FAILED, with the text of the error. */
  | { readonly do: 'append failure' }
  /** The turn leaves the storage with its last commit. */
  | { readonly do: 'finish log' }
  | { readonly do: 'flush log' }
  | { readonly do: 'abandon log' }
  /** Give the turn back to the storage for another process. An agent that was called has used an attempt. */
  | { readonly do: 'release turn'; readonly how: ReleaseHow }
  /** Answer the caller of a draft. The first answer counts. */
  | { readonly do: 'answer'; readonly with: TurnAnswer }
  /** Tell the caller of a draft that its answer takes too long. */
  | { readonly do: 'tell overdue' }
  /** The turn is no longer this process's to write. */
  | { readonly do: 'end' }
  /** Answer the agent that its event comes too late. */
  | { readonly do: 'refuse event' }
  | { readonly do: 'log'; readonly level: 'warn' | 'error'; readonly text: string };

/** The outcome of an input. */
export interface TurnStep {
  readonly state: TurnState;
  /** In order. Effects that run code of the agent come last: that code may bring inputs of its own. */
  readonly effects: readonly TurnEffect[];
}

/** True if a turn in this state takes events of its agent. */
export function acceptsEvents(state: TurnState): boolean {
  const { chunk } = TRANSITIONS[state];
  return chunk !== IMPOSSIBLE && chunk.effects !== REFUSAL;
}

/** True if this process does not write the turn any more. */
export function hasLeft(state: TurnState): boolean {
  return state === 'lingering' || state === 'ended' || state === 'handed over' || state === 'lost';
}

/** True if this process gives the turn up, so that another one may run it. */
export function isGivenUp(state: TurnState): boolean {
  return /handing (?:over|back)$/.test(state) || state === 'handed over' || state === 'lost';
}
