import { failureLevel } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import { attempt } from '../../runtime/settled.js';
import { type TaskKey, taskKeyText } from '../../store/task-key.js';
import type { TaskStorage } from '../../store/task-storage.js';
import type { Logger } from '../../telemetry/logger.js';
import type { FeedListener, TaskFeeds } from './task-feeds.js';

/** The watched tasks of one engine. */
export interface WatchedTasks {
  readonly feeds: TaskFeeds;
  /** True for a task whose turn runs in this process. That turn delivers its records directly. */
  runs(key: TaskKey): boolean;
}

/** Dependencies of the polls, and the time limit of a read. */
interface TaskLooksOptions {
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly patienceMs: number;
}

/** Maximum number of tasks in one read. */
const KEYS_AT_ONCE = 500;

/**
 * Passes the stored progress of tasks to their listeners in a process. All listeners share one read, and only one read
 * is in progress at a time.
 */
export class TaskLooks {
  readonly #options: TaskLooksOptions;
  /** The listeners to inform, by task. A listener that attaches later does not get an older answer. */
  #waiting = new Map<string, { readonly key: TaskKey; readonly listeners: Set<FeedListener> }>();
  #isReading = false;
  #isClosed = false;
  /** Monotonic time of the first failed read in a row. */
  #failingSince: number | undefined;
  /** Monotonic times of the oldest waiting request, and of the read in progress. */
  #waitingSince: number | undefined;
  #readingSince: number | undefined;

  constructor(options: TaskLooksOptions) {
    this.#options = options;
  }

  /** Age of the oldest request without an answer, in ms. */
  get lagMs(): number {
    const since = this.#failingSince ?? this.#readingSince ?? this.#waitingSince;
    return since === undefined ? 0 : this.#options.clock.monotonic() - since;
  }

  /** Polls one task, if it has listeners. */
  look({ feeds }: WatchedTasks, key: TaskKey): void {
    this.#add(feeds.started(key));
  }

  /** Polls all watched tasks whose turns run elsewhere. */
  lookAtAll(watched: WatchedTasks): void {
    this.#add(watched.feeds.started().filter(({ key }) => !watched.runs(key)));
  }

  /** Ends all polls, so that the storage can be closed. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #add(listeners: readonly FeedListener[]): void {
    if (this.#isClosed) return;
    for (const listener of listeners) {
      const text = taskKeyText(listener.key);
      const waiting = this.#waiting.get(text);
      if (waiting === undefined) this.#waiting.set(text, { key: listener.key, listeners: new Set([listener]) });
      else waiting.listeners.add(listener);
    }
    if (this.#waiting.size > 0) this.#waitingSince ??= this.#options.clock.monotonic();
    if (!this.#isReading && this.#waiting.size > 0) this.#read();
  }

  #read(): void {
    const { storage, clock, logger, patienceMs } = this.#options;
    const asked = [...this.#waiting].slice(0, KEYS_AT_ONCE);
    for (const [text] of asked) this.#waiting.delete(text);
    const tasks = asked.map(([, task]) => task);
    this.#isReading = true;
    const began = clock.monotonic();
    this.#readingSince = this.#waitingSince;
    if (this.#waiting.size === 0) this.#waitingSince = undefined;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      stopTimer();
      this.#isReading = false;
      this.#readingSince = undefined;
      if (this.#waiting.size > 0) this.#read();
    };
    // A hanging read must not block later ones.
    const stopTimer = clock.after(patienceMs, () => {
      this.#failed(tasks, began);
      over();
    });
    attempt(() => storage.heads(tasks.map(({ key }) => key))).then(
      (heads) => {
        this.#failingSince = undefined;
        for (const [at, { listeners }] of tasks.entries()) for (const each of listeners) each.look(heads[at]);
        over();
      },
      (error: unknown) => {
        if (this.#isClosed) return over();
        logger[failureLevel(error)]('looking at watched tasks failed', { error });
        if (!isOver) this.#failed(tasks, began);
        over();
      },
    );
  }

  /**
   * Informs callers that have waited up to the time limit for the storage. Streams continue to wait. `began`: the time
   * of the read.
   */
  #failed(tasks: readonly { readonly listeners: ReadonlySet<FeedListener> }[], began: number): void {
    const { clock, patienceMs } = this.#options;
    this.#failingSince ??= began;
    if (clock.monotonic() - this.#failingSince < patienceMs) return;
    for (const { listeners } of tasks) for (const each of listeners) each.overdue?.();
  }
}
