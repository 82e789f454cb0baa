import type { User } from '../auth/user.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Task } from '../model/task.js';
import type { LogRecord } from '../task/log-record.js';

/** The context of a turn, for its agent. */
export interface RequestContext {
  /** The message that started the turn, with its task and context id. */
  readonly message: Message;
  /** The text parts of the message, joined by a newline; "" when there are none. */
  readonly text: string;
  readonly taskId: string;
  readonly contextId: string;
  /** The task as it was when the turn started; absent until it exists (`replies: 'either'`). */
  readonly task: Task | undefined;
  /** The messages before this one. */
  readonly history: readonly Message[];
  /**
   * The tasks that the message refers to, as far as the caller may see them (Spec §3.4.3). Those that together exceed
   * the limit `referenceBytes` are left out.
   */
  referenceTasks(): Promise<readonly Task[]>;
  readonly user: User | undefined;
  readonly tenant: string;
  /** URIs of the activated extensions. */
  readonly extensions: readonly string[];
  /** Media types the caller can take; empty: any (Spec §3.3.2). */
  readonly acceptedOutputModes: readonly string[];
  /** Metadata of the request (Spec §3.2.5). */
  readonly metadata: JsonObject | undefined;
  /** Aborted on cancel, deadline, and when the turn has been taken over. */
  readonly signal: AbortSignal;
  /** 1 unless the turn is run again after a crash. */
  readonly attempt: number;
  /** Records of earlier attempts of this turn. */
  previousEvents(): Promise<readonly LogRecord[]>;
  /** The last checkpoint of an earlier attempt. */
  readonly checkpoint: JsonValue | undefined;
  /** Keeps a value for the attempt that follows a crash. */
  saveCheckpoint(value: JsonValue): Promise<void>;
}
