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

/** A turn, as turn ports see it. */
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
  /** Makes calls again that fail because of an outage. */
  readonly patience: Pick<TurnPatience, 'ask'>;
  /** Counts the turns of the task, from 1. */
  readonly number: number;
  /** 1 for the first attempt of the turn. */
  readonly attempt: number;
  /** The last message of the agent before this one: the question, if the message answers one. */
  readonly question: Message | undefined;
  /** The records of earlier attempts of this turn. */
  previousEvents(): Promise<readonly LogRecord[]>;
  /** For `turnCourse`. */
  readonly course: TurnCourseOptions;
  /** The tokens of the turn and the rest of its budgets. */
  readonly tokens: Pick<TurnTokens, 'addCalled' | 'rest'> & { check(): Promise<void> };
}

/** The budgets of tokens that hold for a turn, and the counters of all turns. */
export interface TokenLimits {
  /** Most tokens of the turn, of its task, and of the turn by the word of its caller. Absent: no limit. */
  readonly most: Readonly<Partial<Record<Exclude<TokenBudgetName, 'ownerPerDay'>, number>>>;
  /** Most tokens of the owner today. Absent: no limit. */
  readonly mostToday: number | undefined;
  /** The tokens that the owner has left today. */
  restToday(): Promise<number>;
  /** Counts the tokens of a call of a model. Returns the rest of today, which is negative if the call took more. */
  spend(usage: CountedTokens): Promise<number>;
  /** Counts a turn that a budget ends. */
  exceeded(budget: TokenBudgetName): void;
}

/** The course of a turn, as it is at the moment. */
export interface TurnCourse {
  /** Time until the deadline in ms. While the task waits for its caller: the full time of a turn. */
  readonly remainingMs: number;
  /** True if another process may go on with the turn. Then its calls of other agents should not be canceled. */
  readonly goesOnElsewhere: boolean;
  /**
   * Keeps metadata for later attempts of the turn, in an event of the task. Does nothing for a turn that has no later
   * attempt.
   */
  note(metadata: JsonObject): Promise<void>;
  /** The value that this attempt or an earlier one has kept under a name. */
  kept(name: string): JsonValue | undefined;
  /**
   * Keeps a value for later attempts, unseen by callers. It is stored with the checkpoint, if the turn may have a later
   * attempt. The oldest values make room for new ones. A failure of the storage is logged only.
   */
  keep(name: string, value: JsonValue): Promise<void>;
  /** Forgets a value. The storage does so with the next write. */
  drop(name: string): void;
}

/**
 * Services for agents that a server has only by an option. Each member makes the service of one turn, when its agent
 * first reads it. Absent members are ports that the server does not have.
 */
export interface TurnPorts {
  /** For `RequestContext.files`. */
  readonly files?: (turn: ServedTurn) => TurnFiles;
  /** For `RequestContext.callAgent`. */
  readonly callAgent?: (turn: ServedTurn) => CallAgent;
  /** Makes the spans of turns and tools. It is one for all turns. */
  readonly tracing?: Tracing;
  /** For `RequestContext.countTokens`. */
  readonly tokens?: (turn: Pick<ServedTurn, 'scope' | 'caller'>) => Promise<TokenLimits>;
  /** Records times of turns. */
  readonly meter?: (time: TurnTime) => void;
}
