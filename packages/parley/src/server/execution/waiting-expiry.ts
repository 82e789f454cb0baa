import { failureLevel } from '../../errors/storage-error.js';
import type { StoredTask } from '../../store/task-storage.js';
import type { EngineContext } from './engine-context.js';
import { endFromOutside } from './outside-end.js';
import { EXPIRED } from './turn-transitions.js';

const BATCH = 100;

/** Ends tasks that have waited for their caller longer than the limit. */
export class WaitingExpiry {
  readonly #context: EngineContext;
  #cancelTimer: (() => void) | undefined;
  #stopped = false;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  start(): void {
    const { clock, limits, logger } = this.#context;
    if (this.#stopped) return;
    this.#cancelTimer = clock.after(limits.expiryCheckMs, () => {
      this.#expire()
        .catch((error: unknown) => logger[failureLevel(error)]('expiring waiting tasks failed', { error }))
        .finally(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
  }

  async #expire(): Promise<void> {
    const { storage, clock, limits, agent, logger } = this.#context;
    /** Tasks that could not be ended. They are retried at the next check, and delay no other task. */
    const left = new Set<string>();
    while (!this.#stopped) {
      const found = await storage.abandoned([agent], limits.waitingExpiryMs, BATCH + left.size);
      const waiting = found.filter(({ task }) => !left.has(task.id));
      const errors: unknown[] = [];
      const ends = waiting.map(async (stored) => {
        const ended = await this.#end(stored).catch((error: unknown) => void errors.push(error));
        if (!ended) left.add(stored.task.id);
      });
      await Promise.all(ends);
      if (errors.length > 0)
        logger[failureLevel(errors[0])]('expiring waiting tasks failed', { tasks: errors.length, error: errors[0] });
      // If every task failed, the storage is retried at the next check.
      if (errors.length === waiting.length) return;
      await new Promise<void>((resolve) => void clock.soon(resolve));
    }
  }

  /** True if the task has ended. */
  async #end(stored: StoredTask): Promise<boolean> {
    const { ids, logger } = this.#context;
    const { id, contextId } = stored.task;
    const message = {
      messageId: ids.random(),
      role: 'ROLE_AGENT' as const,
      taskId: id,
      ...(contextId && { contextId }),
      parts: [{ text: EXPIRED }],
    };
    const status = { state: 'TASK_STATE_FAILED' as const, message };
    const ended = await endFromOutside(this.#context, stored, { status, authority: 'idle' });
    if (ended) logger.info('waiting task expired', { taskId: id });
    return ended !== undefined;
  }
}
