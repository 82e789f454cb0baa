import { failureLevel } from '../../errors/storage-error.js';
import type { StoredTask } from '../../store/storage.js';
import { endFromOutside } from './outside-end.js';
import type { Surroundings } from './turn-host.js';

const BATCH = 100;
const SAYS = 'The task waited too long and has expired.';

/** Ends tasks that have waited for their caller longer than the limit. */
export class WaitingExpiry {
  readonly #around: Surroundings;
  #cancelTimer: (() => void) | undefined;
  #stopped = false;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  start(): void {
    const { clock, limits, logger } = this.#around;
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
    const { storage, clock, limits, agent } = this.#around;
    const before = clock.now() - limits.waitingExpiryMs;
    for (const stored of await storage.abandoned([agent], before, BATCH)) await this.#end(stored);
  }

  async #end(stored: StoredTask): Promise<void> {
    const { ids, logger } = this.#around;
    const { id, contextId } = stored.task;
    const message = {
      messageId: ids.random(),
      role: 'ROLE_AGENT' as const,
      taskId: id,
      ...(contextId && { contextId }),
      parts: [{ text: SAYS }],
    };
    const status = { state: 'TASK_STATE_FAILED' as const, message };
    if (await endFromOutside(this.#around, stored, { status, authority: 'idle' })) {
      logger.info('waiting task expired', { taskId: id });
    }
  }
}
