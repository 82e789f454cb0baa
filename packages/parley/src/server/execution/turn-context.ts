import type { User } from '../../auth/user.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { CallerContext, Claim, Scope, Storage } from '../../store/storage.js';
import type { LogRecord } from '../../task/log-record.js';
import type { RequestContext } from '../request-context.js';
import { quiet } from './quiet.js';
import { callerOf } from './turn-host.js';

const NONE: readonly never[] = [];
const PREVIOUS_EVENTS_BYTES = 16 * 1_048_576;

/** What a turn context is made of. `claim` is there once the task is. */
export interface TurnContextOptions {
  readonly scope: Scope;
  readonly storage: Storage;
  /** With its task and context id. */
  readonly message: Message & { readonly taskId: string; readonly contextId: string };
  readonly caller: CallerContext;
  readonly claim: Claim | undefined;
  readonly saveCheckpoint: (value: JsonValue) => Promise<void>;
}

/** The context of one turn; its signal is made when the agent first looks at it. */
export class TurnContext implements RequestContext {
  readonly message: Message;
  readonly taskId: string;
  readonly contextId: string;
  readonly #options: TurnContextOptions;
  #controller: AbortController | undefined;
  #aborted: { reason: Error } | undefined;

  constructor(options: TurnContextOptions) {
    this.#options = options;
    this.message = options.message;
    this.taskId = options.message.taskId;
    this.contextId = options.message.contextId;
  }

  get text(): string {
    let text: string | undefined;
    for (const part of this.message.parts) {
      if ('text' in part) text = text === undefined ? part.text : `${text}\n${part.text}`;
    }
    return text ?? '';
  }

  get task(): Task | undefined {
    return this.#options.claim?.task;
  }

  get history(): readonly Message[] {
    const history = this.task?.history ?? NONE;
    // A new task has the message that started it in its history already.
    return history.at(-1)?.messageId === this.message.messageId ? history.slice(0, -1) : history;
  }

  async referenceTasks(): Promise<readonly Task[]> {
    const { scope, storage } = this.#options;
    const ids = this.message.referenceTaskIds ?? NONE;
    const stored = await Promise.all(ids.map((id) => storage.task(scope, id)));
    return stored.flatMap((found) => (found ? [found.task] : []));
  }

  get user(): User | undefined {
    return callerOf(this.#options.scope, this.#options.caller);
  }

  get tenant(): string {
    return this.#options.scope.tenant;
  }

  get extensions(): readonly string[] {
    return this.#options.caller.extensions;
  }

  get acceptedOutputModes(): readonly string[] {
    return this.#options.caller.acceptedOutputModes ?? NONE;
  }

  get metadata(): JsonObject | undefined {
    return this.#options.caller.requestMetadata;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get attempt(): number {
    return this.#options.claim?.attempt ?? 1;
  }

  async previousEvents(): Promise<readonly LogRecord[]> {
    const { claim, scope, storage } = this.#options;
    if (!claim?.began) return NONE;
    const key = { agent: scope.agent, id: this.taskId };
    const found: LogRecord[] = [];
    for (let after = 0; after < claim.seq; ) {
      const { records } = await storage.records(key, after, PREVIOUS_EVENTS_BYTES);
      const last = records.at(-1);
      if (!last) break;
      for (const record of records) if (record.turn === claim.turn && record.seq <= claim.seq) found.push(record);
      after = last.seq;
    }
    return found;
  }

  get checkpoint(): JsonValue | undefined {
    return this.#options.claim?.checkpoint;
  }

  saveCheckpoint(value: JsonValue): Promise<void> {
    return quiet(this.#options.saveCheckpoint(value));
  }

  /** Tells the agent to stop. */
  abort(reason: Error): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}
