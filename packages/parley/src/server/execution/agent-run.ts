import { A2AError } from '../../errors/a2a-error.js';
import { failureLevel } from '../../errors/storage-error.js';
import type { UncaughtErrorScope, UncaughtErrors } from '../../runtime/uncaught-errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AgentExecutor } from '../agent-executor.js';
import { AuthorizationError } from '../authorization.js';
import type { TurnContext } from './turn-context.js';
import { type TurnEvents, TurnOverError } from './turn-events.js';
import type { TurnInput } from './turn-state.js';

/** The agent to call, its arguments, and the turn that it runs in. */
interface AgentRunOptions {
  readonly taskId: string;
  readonly executor: AgentExecutor;
  readonly context: TurnContext;
  readonly events: TurnEvents;
  readonly uncaughtErrors: UncaughtErrors;
  readonly logger: Logger;
  /** The agent threw outside of the promise that it has returned. It may still work. */
  readonly onUncaughtError: () => void;
}

/**
 * The agent's code in one turn. Every error that it throws ends here: at once, later, or outside of its promise. The
 * object outlives the turn if code of the agent does.
 */
export class AgentRun implements UncaughtErrorScope {
  readonly #taskId: string;
  readonly #logger: Logger;
  readonly #uncaughtErrors: UncaughtErrors;
  /** Absent after the agent was released. */
  #options: AgentRunOptions | undefined;
  /** Errors that the agent has got from the engine and need not handle. */
  #refusals: WeakSet<object> | undefined;
  #abortReason: Error | undefined;

  constructor(options: AgentRunOptions) {
    this.#taskId = options.taskId;
    this.#logger = options.logger;
    this.#uncaughtErrors = options.uncaughtErrors;
    this.#options = options;
  }

  /** Runs the executor. Throws or rejects with the error of the agent. `undefined`: the agent has returned already. */
  execute(): Promise<unknown> | undefined {
    if (this.#options === undefined) return undefined;
    const { executor, context, events } = this.#options;
    // Agents without types may return anything, also objects that only look like promises.
    const returned: unknown = this.#uncaughtErrors.run(this, () => executor.execute(context, events));
    return returned === undefined ? undefined : Promise.resolve(returned);
  }

  /** Tells the agent to stop. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#as(({ context }) => context.abort(reason));
  }

  /** Tells the executor that its turn is canceled. Its errors are logged and change nothing. */
  cancel(): void {
    const refused = (error: unknown) =>
      this.#logger.error('cancel() of the agent failed', { taskId: this.#taskId, error });
    try {
      Promise.resolve(this.#as(({ executor, context, events }) => executor.cancel?.(context, events))).catch(refused);
    } catch (error) {
      refused(error);
    }
  }

  /** Notes the error that an event or a checkpoint was refused with. The agent need not handle it. */
  refused(error: unknown): void {
    if (typeof error !== 'object' || error === null) return;
    this.#refusals ??= new WeakSet();
    this.#refusals.add(error);
  }

  /** Logs an error that the executor threw after its turn was over. */
  threwLate(error: unknown): void {
    const fields = { taskId: this.#taskId, error };
    if (this.#isRefusal(error) || this.#isAbort(error)) this.#logger.debug('agent stopped after its turn', fields);
    else this.#logger.error('agent failed after its turn was over', fields);
  }

  uncaught(error: unknown): void {
    const fields = { taskId: this.#taskId, error };
    if (this.#isRefusal(error)) return this.#logger.debug('agent did not handle the refusal of an event', fields);
    this.#logger.error('agent threw outside of its promise', fields);
    this.#options?.onUncaughtError();
  }

  /** Releases the agent: the object keeps nothing of the turn, and later errors are only logged. */
  release(): void {
    this.#options = undefined;
  }

  #as<T>(task: (options: AgentRunOptions) => T): T | undefined {
    const options = this.#options;
    return options && this.#uncaughtErrors.run(this, () => task(options));
  }

  #isRefusal(error: unknown): boolean {
    if (typeof error === 'object' && error !== null && this.#refusals?.has(error)) return true;
    try {
      return error instanceof TurnOverError;
    } catch {
      // Agents can throw objects that throw when they are read.
      return false;
    }
  }

  /** True if the error says that the agent has stopped because it was told to. */
  #isAbort(error: unknown): boolean {
    if (this.#abortReason === undefined) return false;
    try {
      return error === this.#abortReason || (error instanceof Error && error.name === 'AbortError');
    } catch {
      return false;
    }
  }
}

/** Agents can throw anything, including objects that throw when they are read. */
export function levelOfThrown(error: unknown): 'error' | 'debug' {
  try {
    return failureLevel(error);
  } catch {
    return 'error';
  }
}

/**
 * The input of a turn whose agent has thrown a value. Agents can throw anything, including objects that throw when they
 * are read.
 */
export function inputOfThrown(thrown: unknown): Extract<TurnInput, `threw${string}`> {
  try {
    if (thrown instanceof AuthorizationError) return `threw ${thrown.reason}`;
    return thrown instanceof A2AError ? 'threw A2AError' : 'threw';
  } catch {
    return 'threw';
  }
}
