import type { User } from '../auth/user.js';
import type { TokenBudgetName } from '../errors/token-budget-error.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { CallerContext } from '../store/caller-context.js';
import type { Scope } from '../store/task-key.js';
import type { LogRecord } from '../task/log-record.js';
import type { CountedTokens } from '../task/token-usage.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { TurnTime } from '../telemetry/turn-metrics.js';
import type { CallAgent } from './agent-call.js';
import type { AddressedMessage } from './execution/agent-event.js';
import type { TurnCourseOptions } from './execution/turn-course.js';
import type { TurnPatience } from './execution/turn-patience.js';
import type { TurnTokens } from './execution/turn-tokens.js';
import type { TurnFiles } from './turn-files.js';

/** A turn, in the form for turn ports. */
export interface ServedTurn {
  readonly scope: Scope;
  /** The message that the turn answers. */
  readonly message: AddressedMessage;
  readonly caller: CallerContext;
  /** The trace context for calls of the turn. */
  readonly traceparent: string | undefined;
  /** A copy of the caller, without credentials. */
  readonly user: User | undefined;
  /** Aborts when the turn has to end. */
  readonly signal: AbortSignal;
  /** Repeats calls that fail because of an outage. */
  readonly patience: Pick<TurnPatience, 'ask'>;
  /** The number of the turn of its task, from 1. */
  readonly number: number;
  /** 1 for the first attempt of the turn. */
  readonly attempt: number;
  /** The last message of the agent before this one: the question, if the message answers one. */
  readonly question: Message | undefined;
  /** The records of earlier attempts of this turn. */
  previousEvents(): Promise<readonly LogRecord[]>;
  /** Sets a function with the work that a canceled turn waits for. It returns undefined if there is none. */
  settleFirst(settled: () => Promise<void> | undefined): void;
  /** For `turnCourse`. */
  readonly course: TurnCourseOptions;
  /** The tokens of the turn and the rest of its budgets. */
  readonly tokens: Pick<TurnTokens, 'addCalled' | 'rest'> & { check(): Promise<void> };
}

/** The token budgets of a turn, and the counters of all turns. */
export interface TokenLimits {
  /** Maximum tokens of the turn, of its task, and of the turn as its caller has limited them. Absent: no limit. */
  readonly most: Readonly<Partial<Record<Exclude<TokenBudgetName, 'ownerPerDay'>, number>>>;
  /** Maximum tokens of the owner today. Absent: no limit. */
  readonly mostToday: number | undefined;
  /** Returns the tokens that the owner has left today. */
  restToday(): Promise<number>;
  /** Counts the tokens of a call of a model. Returns the rest of today, which is negative if the call used more. */
  spend(usage: CountedTokens): Promise<number>;
  /** Counts a turn that a budget has ended. */
  exceeded(budget: TokenBudgetName): void;
}

/** The current progress of a turn. */
export interface TurnCourse {
  /** Time until the deadline in ms. While the task waits for its caller: the full time limit of a turn. */
  readonly remainingMs: number;
  /** True if another process may continue the turn. Then its calls of other agents should not be canceled. */
  readonly goesOnElsewhere: boolean;
  /**
   * Stores metadata for later attempts of the turn, in an event of the task. Does nothing for a turn without later
   * attempts.
   */
  note(metadata: JsonObject): Promise<void>;
  /** Returns the value that this attempt or an earlier one has stored under a name. */
  kept(name: string): JsonValue | undefined;
  /**
   * Stores a value for later attempts, hidden from callers. It is stored with the checkpoint, if the turn may have a
   * later attempt. The oldest values are dropped to make room. A failure of the storage is only logged.
   */
  keep(name: string, value: JsonValue): Promise<void>;
  /** Removes a value. The storage removes it with the next write. */
  drop(name: string): void;
}

/**
 * Services for agents that depend on an option of the server. Each member creates the service for one turn when its
 * agent first reads it. Absent members are services that the server does not have.
 */
export interface TurnPorts {
  /** For `RequestContext.files`. */
  readonly files?: (turn: ServedTurn) => TurnFiles;
  /** For `RequestContext.callAgent`. */
  readonly callAgent?: (turn: ServedTurn) => CallAgent;
  /** Makes the spans of turns and tools. Shared by all turns. */
  readonly tracing?: Tracing;
  /** For `RequestContext.countTokens`. */
  readonly tokens?: (turn: Pick<ServedTurn, 'scope' | 'caller'>) => Promise<TokenLimits>;
  /** Records times of turns. */
  readonly meter?: (time: TurnTime) => void;
}
