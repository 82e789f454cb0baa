import { A2AError } from '../../errors/a2a-error.js';
import { failureLevel } from '../../errors/storage-error.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import type { UncaughtErrorScope } from '../../runtime/uncaught-errors.js';
import { AuthorizationError } from '../authorization.js';
import { announcedState } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import type { TurnContext } from './turn-context.js';
import { type TurnEvents, TurnOverError } from './turn-events.js';
import type { AgentEventInput, TurnInput } from './turn-state.js';

/** The arguments of the agent, and its turn. */
interface AgentRunOptions {
  readonly context: TurnContext;
  readonly events: TurnEvents;
  /** Called if the agent throws outside of the promise that it has returned. It may still run. */
  readonly onUncaughtError: () => void;
}

/**
 * A call of the agent in one turn. Catches every error of the agent: synchronous, asynchronous, or outside of its
 * promise. Measures the times of the turn.
 * The object lives as long as code of the agent runs, which may be longer than the turn.
 */
export class AgentRun implements UncaughtErrorScope {
  readonly #engine: EngineContext;
  readonly #taskId: string;
  /** Absent after the release of the agent. */
  #options: AgentRunOptions | undefined;
  /** Errors of the engine that the agent need not handle. */
  #refusals: WeakSet<object> | undefined;
  #abortReason: Error | undefined;
  /** Monotonic time. */
  readonly #begunAt: number;
  #hasAnswered = false;
  #lastState: TaskState = 'TASK_STATE_WORKING';

  constructor(engine: EngineContext, options: AgentRunOptions) {
    this.#engine = engine;
    this.#taskId = options.context.taskId;
    this.#options = options;
    this.#begunAt = engine.clock.monotonic();
  }

  /**
   * Runs the executor. Throws or rejects with the error of the agent. Returns `undefined` if the agent has returned
   * already.
   */
  execute(): Promise<unknown> | undefined {
    if (this.#options === undefined) return undefined;
    const { agent, clock, executor, turnPorts, uncaughtErrors } = this.#engine;
    const { context, events } = this.#options;
    const { claim } = context;
    // A draft does not wait.
    if (claim?.caller.acceptedAt !== undefined) {
      const attempt = claim.attempt === 1 ? 'first' : 'again';
      // Another process, with another clock, may have accepted the message.
      const ms = Math.max(0, clock.now() - claim.caller.acceptedAt);
      turnPorts.meter?.({ agent, time: 'queueWait', ms, attempt });
    }
    // Untyped agents may return anything, even objects that only look like promises.
    const returned: unknown = uncaughtErrors.run(this, () => executor.execute(context, events));
    return returned === undefined ? undefined : Promise.resolve(returned);
  }

  /** Called when the agent has published an event. */
  met(event: StreamResponse, input: AgentEventInput): void {
    const state = event.message !== undefined ? 'TASK_STATE_COMPLETED' : announcedState(event);
    if (state !== undefined) this.#lastState = state;
    if (this.#hasAnswered || input === 'working' || input === 'announced') return;
    this.#hasAnswered = true;
    const { agent, clock, turnPorts } = this.#engine;
    turnPorts.meter?.({ agent, time: 'firstEvent', ms: clock.monotonic() - this.#begunAt });
  }

  /** Called when the engine has set a state. */
  reached(state: TaskState): void {
    this.#lastState = state;
  }

  /** Called when this process no longer writes the turn. */
  ended(isGivenUp: boolean): void {
    const outcome = isGivenUp ? 'lost' : this.#lastState.slice('TASK_STATE_'.length).toLowerCase();
    const { agent, clock, turnPorts } = this.#engine;
    turnPorts.meter?.({ agent, time: 'taskDuration', ms: clock.monotonic() - this.#begunAt, outcome });
  }

  /** Aborts the signal of the agent. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#as(({ context }) => context.abort(reason));
  }

  /** Calls the executor's `cancel`. Its errors are only logged. */
  cancel(): void {
    const refused = (error: unknown) =>
      this.#engine.logger.error('cancel() of the agent failed', { taskId: this.#taskId, error });
    const { executor } = this.#engine;
    try {
      Promise.resolve(this.#as(({ context, events }) => executor.cancel?.(context, events))).catch(refused);
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
    const { logger } = this.#engine;
    const fields = { taskId: this.#taskId, error };
    if (this.#isRefusal(error) || this.#isAbort(error)) logger.debug('agent stopped after its turn', fields);
    else logger.error('agent failed after its turn was over', fields);
  }

  uncaught(error: unknown): void {
    const { logger } = this.#engine;
    const fields = { taskId: this.#taskId, error };
    if (this.#isRefusal(error)) return logger.debug('agent did not handle the refusal of an event', fields);
    logger.error('agent threw outside of its promise', fields);
    this.#options?.onUncaughtError();
  }

  /** Releases the agent: the object drops all references to the turn, and later errors are only logged. */
  release(): void {
    this.#options = undefined;
  }

  #as<T>(task: (options: AgentRunOptions) => T): T | undefined {
    const options = this.#options;
    return options && this.#engine.uncaughtErrors.run(this, () => task(options));
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
