import { A2AError } from '../../errors/a2a-error.js';
import { failureLevel } from '../../errors/storage-error.js';
import type { UncaughtErrorScope, UncaughtErrors } from '../../runtime/uncaught-errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AgentExecutor } from '../agent-executor.js';
import { AuthorizationError } from '../authorization.js';
import type { TurnContext } from './turn-context.js';
import { type TurnEvents, TurnOverError } from './turn-events.js';
import type { TurnInput } from './turn-state.js';

/** The agent to call, its arguments, and its turn. */
interface AgentRunOptions {
  readonly taskId: string;
  readonly executor: AgentExecutor;
  readonly context: TurnContext;
  readonly events: TurnEvents;
  readonly uncaughtErrors: UncaughtErrors;
  readonly logger: Logger;
  /** Called if the agent throws outside of the promise that it has returned. It may still run. */
  readonly onUncaughtError: () => void;
}

/**
 * A call of the agent in one turn. Catches every error of the agent: synchronous, asynchronous, or outside of its
 * promise.
 * The object lives as long as code of the agent runs, which may be longer than the turn.
 */
export class AgentRun implements UncaughtErrorScope {
  readonly #taskId: string;
  readonly #logger: Logger;
  readonly #uncaughtErrors: UncaughtErrors;
  /** Absent after the release of the agent. */
  #options: AgentRunOptions | undefined;
  /** Errors of the engine that the agent need not handle. */
  #refusals: WeakSet<object> | undefined;
  #abortReason: Error | undefined;

  constructor(options: AgentRunOptions) {
    this.#taskId = options.taskId;
    this.#logger = options.logger;
    this.#uncaughtErrors = options.uncaughtErrors;
    this.#options = options;
  }

  /**
   * Runs the executor. Throws or rejects with the error of the agent. Returns `undefined` if the agent has returned
   * already.
   */
  execute(): Promise<unknown> | undefined {
    if (this.#options === undefined) return undefined;
    const { executor, context, events } = this.#options;
    // Untyped agents may return anything, even objects that only look like promises.
    const returned: unknown = this.#uncaughtErrors.run(this, () => executor.execute(context, events));
    return returned === undefined ? undefined : Promise.resolve(returned);
  }

  /** Aborts the signal of the agent. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#as(({ context }) => context.abort(reason));
  }

  /** Calls the executor's `cancel`. Its errors are only logged. */
  cancel(): void {
    const refused = (error: unknown) =>
      this.#logger.error('cancel() of the agent failed', { taskId: this.#taskId, error });
    try {
      Promise.resolve(this.#as(({ executor, context, events }) => executor.cancel?.(context, events))).catch(refused);
    } catch (error) {
      refused(error);
    }
  }

  /** Records the error of a refused event or checkpoint. The agent need not handle it. */
  refused(error: unknown): void {
    if (typeof error !== 'object' || error === null) return;
    this.#refusals ??= new WeakSet();
    this.#refusals.add(error);
  }

  /** Logs an error that the executor threw after its turn had ended. */
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

  /** Releases the agent: the object drops all references to the turn, and later errors are only logged. */
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
      // Agents can throw objects whose getters throw.
      return false;
    }
  }

  /** True if the error is the abort that the engine has requested. */
  #isAbort(error: unknown): boolean {
    if (this.#abortReason === undefined) return false;
    try {
      return error === this.#abortReason || (error instanceof Error && error.name === 'AbortError');
    } catch {
      return false;
    }
  }
}

/** Agents can throw anything, including objects whose getters throw. */
export function levelOfThrown(error: unknown): 'error' | 'debug' {
  try {
    return failureLevel(error);
  } catch {
    return 'error';
  }
}

/**
 * Returns the turn input for a value that the agent has thrown. It may be anything, including an object whose getters
 * throw.
 */
export function inputOfThrown(thrown: unknown): Extract<TurnInput, `threw${string}`> {
  try {
    if (thrown instanceof AuthorizationError) return `threw ${thrown.reason}`;
    return thrown instanceof A2AError ? 'threw A2AError' : 'threw';
  } catch {
    return 'threw';
  }
}
