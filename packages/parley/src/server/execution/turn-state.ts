import type { TaskState } from '../../model/task-state.js';
import type { ReleaseHow } from '../../store/held-turn.js';
import type { TurnAbortReason } from '../turn-aborted-error.js';
import { IMPOSSIBLE, REFUSAL, TRANSITIONS } from './turn-transitions.js';

/**
 * States of a turn whose task is stored and whose agent has not been called.
 * - `claimed`: this process holds the turn
 * - `kept`: the turn was taken over while its task waits for an authorization
 * - `handing back`: the turn is being released, and has used no attempt
 */
type QuietState = 'claimed' | 'kept' | 'handing back';

/**
 * States of a stored turn whose agent was called. In all but `leaving` and `handing over` it may still run.
 * - `open`: the turn has no record yet
 * - `running`: the turn has a record and the agent runs
 * - `asking`: the task is AUTH_REQUIRED and waits for its caller while the agent runs
 * - `canceling`: the agent was aborted, and its grace period runs
 * - `asked`: the task is INPUT_REQUIRED, and the grace period of the agent runs
 * - `ending`: the agent has published a final state, and its grace period runs
 * - `leaving`: the last commit removes the turn from the storage
 * - `handing over`: the turn is being released for another process
 */
export type LiveState = 'open' | 'running' | 'asking' | 'canceling' | 'asked' | 'ending' | 'leaving' | 'handing over';

/**
 * States of a turn that this process no longer writes.
 * - `lingering`: the turn is over, and the grace period of its agent runs
 * - `ended`: the turn is over
 * - `handed over`: the turn was released for another process
 * - `lost`: another process may write the turn
 */
type OverState = 'lingering' | 'ended' | 'handed over' | 'lost';

/**
 * The state of a turn. `drafted`: the turn has a message and no task, and its agent has not been called. `draft`: its
 * agent runs. `storing …`: its task is being stored. The rest of the name is the state that follows.
 */
export type TurnState = 'drafted' | 'draft' | QuietState | `storing ${LiveState}` | LiveState | OverState;

/** Events of an agent, as inputs of a turn. `terminal` is any terminal state but REJECTED. */
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
  /** The microtask after that has run. */
  | 'first step over'
  | 'returned'
  | 'threw'
  | 'threw A2AError'
  /** The agent did not catch the error of a refused authorization. */
  | 'threw denied'
  /** The agent did not catch the error of an expired authorization. */
  | 'threw expired'
  /** The agent threw outside of its promise: it may still run. */
  | 'threw elsewhere'
  /** The models of the turn have used up a budget of tokens. */
  | 'over budget';

/** Requests of the process: from its list of turns, its heartbeat and its shutdown. */
type OwnerInput =
  /** Count the attempt in the storage, then run. */
  | 'begin'
  | 'run'
  /** End the turn and do not change the task. */
  | 'leave'
  | 'interrupted'
  | 'exhausted'
  /** Hold the turn without its agent: its task waits for an authorization. */
  | 'keep'
  /** The authorization for a kept turn has expired. */
  | 'expired'
  /** A message of the caller arrived instead of the authorization. */
  | 'replaced'
  | 'cancel'
  | 'hand over'
  /** The process no longer waits for the storage: it closes, or the lease of the turn ends. */
  | 'give up'
  /** The storage says that this process does not hold the turn. */
  | 'not held';

/** The timer of that name has fired. */
type TimerInput = TurnTimer;

type StorageInput =
  | 'stored'
  | 'store overdue'
  | 'store failed'
  /** All records so far are committed, or no more can be committed. */
  | 'flushed'
  | 'released'
  | 'release failed'
  /** The last commit has removed the turn from the storage. */
  | 'left'
  /** The storage has refused a commit: another process writes the turn. */
  | 'fenced';

/** All inputs of a turn. */
export type TurnInput = AgentInput | OwnerInput | TimerInput | StorageInput;

/** The timer of a turn. Only one runs: each start replaces the previous one. */
export type TurnTimer = 'deadline' | 'expiry' | 'grace';

/** The answer to the caller of a draft: the direct message, the claim of its task, or an error. */
export type TurnAnswer = 'reply' | 'claim' | 'error' | 'closing' | 'stalled';

/** One action of the runner of a turn. Effects are constants; the runner has the data of an input. */
export type TurnEffect =
  | { readonly do: 'count attempt' }
  | { readonly do: 'call agent' }
  | { readonly do: 'await first step' }
  | { readonly do: 'abort agent'; readonly why: TurnAbortReason }
  | { readonly do: 'call cancel of agent' }
  /** From then on, errors of the agent are only logged. */
  | { readonly do: 'release agent' }
  | { readonly do: 'log late error' }
  | { readonly do: 'start timer'; readonly timer: TurnTimer }
  | { readonly do: 'stop timer' }
  | { readonly do: 'store task' }
  /** The claim has arrived: queued events become records. */
  | { readonly do: 'open log' }
  | { readonly do: 'append event' }
  | { readonly do: 'append status'; readonly state: TaskState; readonly text?: string }
  /** FAILED, with the text of the error. */
  | { readonly do: 'append failure' }
  /** Remove the turn from the storage with its last commit. */
  | { readonly do: 'finish log' }
  | { readonly do: 'flush log' }
  | { readonly do: 'abandon log' }
  /** Release the turn in the storage for another process. An agent that was called has used an attempt. */
  | { readonly do: 'release turn'; readonly how: ReleaseHow }
  /** Answer the caller of a draft. Only the first answer has an effect. */
  | { readonly do: 'answer'; readonly with: TurnAnswer }
  /** Inform the caller of a draft that its answer takes too long. */
  | { readonly do: 'tell overdue' }
  /** End the turn in this process, which no longer writes it. */
  | { readonly do: 'end' }
  /** Reject the event of the agent, because the turn is over. */
  | { readonly do: 'refuse event' }
  | { readonly do: 'log'; readonly level: 'warn' | 'error'; readonly text: string };

/** The outcome of an input. */
export interface TurnStep {
  readonly state: TurnState;
  /** In order. Effects that run code of the agent come last, because that code may cause further inputs. */
  readonly effects: readonly TurnEffect[];
}

/** True if a turn in this state accepts events of its agent. */
export function acceptsEvents(state: TurnState): boolean {
  const { chunk } = TRANSITIONS[state];
  return chunk !== IMPOSSIBLE && chunk.effects !== REFUSAL;
}

/** True if this process no longer writes the turn. */
export function hasLeft(state: TurnState): boolean {
  return state === 'lingering' || state === 'ended' || state === 'handed over' || state === 'lost';
}

/** True if this process releases the turn, so that another one may run it. */
export function isGivenUp(state: TurnState): boolean {
  return /handing (?:over|back)$/.test(state) || state === 'handed over' || state === 'lost';
}
