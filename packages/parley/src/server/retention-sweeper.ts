import { failureLevel } from '../errors/storage-error.js';
import type { Clock } from '../runtime/clock.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';

/** Retention times, in ms. */
export interface RetentionPolicy {
  /** Retention of tasks after their end. */
  readonly taskRetentionMs: number;
  /** Retention of event logs after the end of their task. A finished stream can be replayed for this time. */
  readonly eventLogMs: number;
  /** Time between two sweeps. */
  readonly everyMs: number;
}

/** The defaults: 30 days, 1 hour, every minute. */
const DEFAULT_RETENTION: RetentionPolicy = {
  taskRetentionMs: 30 * 86_400_000,
  eventLogMs: 3_600_000,
  everyMs: 60_000,
};

const BATCH = 500;
const PAUSE_MS = 10;

/**
 * Deletes expired tasks, logs and keys in small batches. Each storage needs one sweeper. Times are those of the
 * storage.
 */
export class RetentionSweeper {
  readonly #storage: TaskStorage;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #policy: RetentionPolicy;
  #cancelTimer: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: {
    readonly storage: TaskStorage;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly policy?: Partial<RetentionPolicy>;
  }) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#policy = { ...DEFAULT_RETENTION, ...options.policy };
  }

  start(): void {
    this.#next(this.#policy.everyMs);
  }

  /** Resolves when no sweep runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#running;
  }

  #next(ms: number): void {
    if (this.#stopped) return;
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.#running = this.#sweep().then((more) => {
        this.#running = undefined;
        this.#next(more ? PAUSE_MS : this.#policy.everyMs);
      });
    });
  }

  async #sweep(): Promise<boolean> {
    const { taskRetentionMs, eventLogMs } = this.#policy;
    try {
      const swept = await this.#storage.sweep({ taskRetentionMs, eventLogMs, limit: BATCH });
      if (swept.tasks + swept.records + swept.keys > 0) this.#logger.debug('swept', { ...swept });
      return swept.more;
    } catch (error) {
      this.#logger[failureLevel(error)]('sweep failed', { error });
      return false;
    }
  }
}
