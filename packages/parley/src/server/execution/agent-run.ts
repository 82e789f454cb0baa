import type { UncaughtErrorScope, UncaughtErrors } from '../../runtime/uncaught-errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AgentExecutor } from '../agent-executor.js';
import type { TurnContext } from './turn-context.js';
import { type TurnEvents, TurnOverError } from './turn-events.js';

/** What a run needs. */
export interface AgentRunOptions {
  readonly taskId: string;
  readonly executor: AgentExecutor;
  readonly context: TurnContext;
  readonly events: TurnEvents;
  readonly uncaughtErrors: UncaughtErrors;
  readonly logger: Logger;
  /** The agent threw where nobody waits for it: whether it still works is not known. */
  readonly onUncaughtError: () => void;
}

/**
 * The agent's code in one turn: whatever it throws, at once, later or where nobody waits for it, ends here. Outlives
 * the turn as long as something of the agent does.
 */
export class AgentRun implements UncaughtErrorScope {
  readonly #taskId: string;
  readonly #logger: Logger;
  readonly #uncaughtErrors: UncaughtErrors;
  /** Absent once the turn is over. */
  #options: AgentRunOptions | undefined;
  /** Errors that the agent was given and need not look at. */
  #refusals: WeakSet<object> | undefined;
  #abortReason: Error | undefined;

  constructor(options: AgentRunOptions) {
    this.#taskId = options.taskId;
    this.#logger = options.logger;
    this.#uncaughtErrors = options.uncaughtErrors;
    this.#options = options;
  }

  /** Runs the executor. Throws or rejects with what it throws; `undefined` when it has returned already. */
  execute(): Promise<unknown> | undefined {
    // Agents without types may return anything, promises that are none included.
    const returned: unknown = this.#as(({ executor, context, events }) => executor.execute(context, events));
    return returned === undefined ? undefined : Promise.resolve(returned);
  }

  /** Tells the agent to stop. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#as(({ context }) => context.abort(reason));
  }

  /** Tells the executor that its turn is canceled. How it takes that is its own affair. */
  cancel(): void {
    const refused = (error: unknown) =>
      this.#logger.error('cancel() of the agent failed', { taskId: this.#taskId, error });
    try {
      Promise.resolve(this.#as(({ executor, context, events }) => executor.cancel?.(context, events))).catch(refused);
    } catch (error) {
      refused(error);
    }
  }

  /** An event or a checkpoint was refused with this error, which the agent need not look at. */
  refused(error: unknown): void {
    if (typeof error !== 'object' || error === null) return;
    this.#refusals ??= new WeakSet();
    this.#refusals.add(error);
  }

  /** The executor threw this when its turn was over: only the log can hear of it. */
  threwLate(error: unknown): void {
    const fields = { taskId: this.#taskId, error };
    if (this.#isRefusal(error) || this.#isAbort(error)) this.#logger.debug('agent stopped after its turn', fields);
    else this.#logger.error('agent failed after its turn was over', fields);
  }

  stray(error: unknown): void {
    const fields = { taskId: this.#taskId, error };
    if (this.#isRefusal(error)) return this.#logger.debug('agent did not look at the refusal of an event', fields);
    this.#logger.error('agent threw where nobody waits for it', fields);
    this.#options?.onUncaughtError();
  }

  /** The turn is over: nothing of it is kept, and what still comes is only logged. */
  end(): void {
    this.#options = undefined;
  }

  #as<T>(task: (options: AgentRunOptions) => T): T | undefined {
    const options = this.#options;
    return options && this.#uncaughtErrors.within(this, () => task(options));
  }

  #isRefusal(error: unknown): boolean {
    if (typeof error === 'object' && error !== null && this.#refusals?.has(error)) return true;
    try {
      return error instanceof TurnOverError;
    } catch {
      // Anything can be thrown, and some of it throws when it is looked at.
      return false;
    }
  }

  /** True if an agent that was told to stop says that it did. */
  #isAbort(error: unknown): boolean {
    if (this.#abortReason === undefined) return false;
    try {
      return error === this.#abortReason || (error instanceof Error && error.name === 'AbortError');
    } catch {
      return false;
    }
  }
}
