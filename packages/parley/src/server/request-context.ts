import type { User } from '../auth/user.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Task } from '../model/task.js';
import type { Clock } from '../runtime/clock.js';
import type { LogRecord } from '../task/log-record.js';
import type { TokenUsage } from '../task/token-usage.js';
import type { CallAgent } from './agent-call.js';
import type { Authorization, AuthorizationRequest } from './authorization.js';
import type { ConversationEntry, ConversationOptions } from './conversation.js';
import type { TurnFiles } from './turn-files.js';

/** The context of a turn, for its agent. */
export interface RequestContext {
  /** The message that started the turn, with its task and context id. */
  readonly message: Message;
  /** The text parts of the message, joined by a newline; "" if there are none. */
  readonly text: string;
  readonly taskId: string;
  readonly contextId: string;
  /** The task at the start of the turn. Absent until it exists (`replies: 'either'`). */
  readonly task: Task | undefined;
  /** The messages before this one. */
  readonly history: readonly Message[];
  /**
   * The messages and artifacts of the context, oldest first. Those of other tasks of the caller come before those of
   * this task. This message is the last. Direct messages are not stored, so they are missing.
   * @throws RangeError for a limit that is no positive integer.
   */
  conversation(options?: ConversationOptions): Promise<readonly ConversationEntry[]>;
  /**
   * The tasks that the message refers to, if the caller may read them (Spec §3.4.3). The limit `referenceBytes` applies
   * to all of them together; the rest is left out.
   */
  referenceTasks(): Promise<readonly Task[]>;
  /**
   * Asks the caller to authorize the agent elsewhere, and waits (Spec §7.6). Meanwhile the task is AUTH_REQUIRED. If
   * the process ends, the agent runs again on the same message when the answer arrives, and this call resolves at once.
   * @throws AuthorizationError if the caller refuses, or the time limit has passed.
   */
  requestAuthorization(request: AuthorizationRequest): Promise<Authorization>;
  /**
   * The files of the caller, as streams.
   * @throws OptionsError if the server has no option `files`.
   */
  readonly files: TurnFiles;
  /**
   * Sends a message to another agent. Await the call for the answer, or iterate it for the events; either one starts
   * it. It ends with this turn, and a cancel is passed on. docs/calling-agents.md has the rules.
   * @throws OptionsError if the server has no option `calls`.
   */
  readonly callAgent: CallAgent;
  /**
   * Counts the tokens of a call of a model, and checks the budgets of the server. Call it after each call of a model,
   * and before the last event: the sums are in the metadata of the task. Without tokens it only checks: do this before
   * a call of a model. docs/costs.md has the rules.
   * @throws TokenBudgetError if a budget is used up. Then the turn has ended.
   * @throws TypeError for counts that are no whole numbers.
   */
  countTokens(usage?: TokenUsage): Promise<void>;
  readonly user: User | undefined;
  readonly tenant: string;
  /** URIs of the activated extensions. */
  readonly extensions: readonly string[];
  /** Media types that the caller accepts. Empty: any (Spec §3.3.2). */
  readonly acceptedOutputModes: readonly string[];
  /** W3C trace context to pass on: that of the turn; without tracing, that of the call with the message. */
  readonly traceparent?: string | undefined;
  /** Metadata of the request (Spec §3.2.5). */
  readonly metadata: JsonObject | undefined;
  /**
   * Aborts on cancel, at the deadline, and when another process may take the turn over. Its reason is a
   * `TurnAbortedError`.
   */
  readonly signal: AbortSignal;
  /**
   * The clock of the engine. In tests it is the `TestClock`, so an agent that uses it for delays takes no real time.
   */
  readonly clock: Clock;
  /** 1 for the first attempt. Increases with each retry of the turn. */
  readonly attempt: number;
  /** Records of earlier attempts of this turn. */
  previousEvents(): Promise<readonly LogRecord[]>;
  /** The last checkpoint of an earlier attempt. */
  readonly checkpoint: JsonValue | undefined;
  /** Saves a value for the next attempt. */
  saveCheckpoint(value: JsonValue): Promise<void>;
}
