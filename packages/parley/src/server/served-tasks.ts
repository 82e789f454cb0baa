import { TaskNotFoundError, UnsupportedOperationError } from '../errors/spec-errors.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import { isTerminal } from '../model/task-state.js';
import { BY_VERB } from '../operations/operations.js';
import { ScopedTasks, type ScopedTasksOptions } from '../store/scoped-tasks.js';
import type { Logger } from '../telemetry/logger.js';
import type { DefaultRequestHandler } from './default-request-handler.js';
import { copyStream } from './isolation.js';

/** The engine of the tasks, and the log for failures that no caller gets. */
interface ServedTasksOptions extends ScopedTasksOptions {
  readonly engine: Pick<DefaultRequestHandler, (typeof BY_VERB)['subscribe']>;
  readonly logger: Logger;
}

/** The tasks of one scope of a running agent, for code of the application. */
export class ServedTasks extends ScopedTasks {
  readonly #options: ServedTasksOptions;

  constructor(options: ServedTasksOptions) {
    super(options);
    this.#options = options;
  }

  /**
   * Watches a task: first the current task, then each of its events until it ends. With a callback it returns a
   * function that stops the watch, and logs failures. Without one it returns the events as an async iterable.
   * @throws TaskNotFoundError from the iterable.
   */
  watch(id: string): AsyncIterable<StreamResponse>;
  watch(id: string, callback: (event: StreamResponse) => void): () => void;
  watch(id: string, callback?: (event: StreamResponse) => void): AsyncIterable<StreamResponse> | (() => void) {
    const stop = new AbortController();
    if (callback === undefined) return this.#events(id, stop.signal);
    this.#tell(this.#events(id, stop.signal), callback, stop.signal).catch((error: unknown) => {
      this.#options.logger.error('a task cannot be watched', { taskId: id, error });
    });
    return () => stop.abort();
  }

  async #tell(
    events: AsyncIterable<StreamResponse>,
    callback: (event: StreamResponse) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for await (const event of events) {
      if (signal.aborted) return;
      callback(event);
    }
  }

  async *#events(id: string, signal: AbortSignal): AsyncGenerator<StreamResponse, void> {
    const task = await this.#stored(id);
    if (isTerminal(task.status.state)) return yield { task };
    const { engine, scope } = this.#options;
    const { tenant, owner } = scope;
    const context = { version: '1.0', extensions: [], signal, ...(owner !== null && { user: { id: owner } }) };
    const items = copyStream(engine[BY_VERB.subscribe]({ id, tenant }, context))[Symbol.asyncIterator]();
    const leave = () => void items.return?.();
    signal.addEventListener('abort', leave, { once: true });
    let shown = false;
    try {
      for (let item = await items.next(); !item.done && !signal.aborted; item = await items.next()) {
        shown = true;
        yield item.value.event;
      }
    } catch (error) {
      // A task that ended in between has no more events.
      if (shown || !(error instanceof UnsupportedOperationError)) throw error;
      yield { task: await this.#stored(id) };
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  async #stored(id: string): Promise<Task> {
    const task = await this.get(id);
    if (task === undefined) throw new TaskNotFoundError(id);
    return task;
  }
}
