import type { Clock } from '../src/runtime/clock.js';
import type { AgentExecutor } from '../src/server/agent-executor.js';
import { DefaultRequestHandler, type DefaultRequestHandlerOptions } from '../src/server/default-request-handler.js';
import { MemoryStorage } from '../src/store/memory/memory-storage.js';
import type { TaskStorage } from '../src/store/task-storage.js';
import { CountingIds } from './counting-ids.js';
import { CapturingLogger, type Execute, waitForAbort } from './engine.js';
import type { WakeupFate } from './faulty-wakeups.js';
import { ManualClock } from './manual-clock.js';
import { onSharedStorage } from './shared-view.js';

/** A process on the storage. */
export interface Replica {
  readonly handler: DefaultRequestHandler;
  readonly client: { dead: boolean; isCutOff: boolean; isFailing: boolean; wakeups: WakeupFate };
  readonly storage: TaskStorage;
  readonly logger: CapturingLogger;
}

/** Processes side by side on one storage. */
export class Replicas {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStorage({ clock: this.clock });
  #count = 0;

  async boot(
    executor: AgentExecutor | Execute,
    { clockOff = 0, ...options }: Partial<DefaultRequestHandlerOptions> & { readonly clockOff?: number } = {},
  ): Promise<Replica> {
    this.#count += 1;
    const client = { dead: false, isCutOff: false, isFailing: false, wakeups: 'deliver' as WakeupFate };
    const storage = onSharedStorage(this.memory, client);
    const logger = new CapturingLogger();
    const handler = new DefaultRequestHandler({
      agent: 'test',
      executor: typeof executor === 'function' ? { execute: executor } : executor,
      storage,
      clock: offBy(this.clock, clockOff),
      ids: new CountingIds(`replica-${this.#count}-`),
      logger,
      ...options,
    });
    const started = handler.start();
    await this.clock.settle();
    await started;
    return { handler, client, storage, logger };
  }

  /** Two processes with the same agent, whose wake-ups all have one fate. */
  async two(executor: AgentExecutor | Execute, wakeups: WakeupFate = 'deliver'): Promise<readonly [Replica, Replica]> {
    const [one, other] = [await this.boot(executor), await this.boot(executor)];
    one.client.wakeups = wakeups;
    other.client.wakeups = wakeups;
    return [one, other];
  }
}

/** The clock of a process whose time of day is wrong. */
export function offBy(clock: ManualClock, ms: number): Clock {
  return {
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic() - 1_000_000 * Math.sign(ms),
    after: (wait, task) => clock.after(wait, task),
    soon: (task) => clock.soon(task),
    hold: (work) => clock.hold(work),
  };
}

/** Publishes an artifact for each call of the returned function, and completes at the last one. */
export function stepwise() {
  let next: (last: boolean) => void = () => {};
  const execute: Execute = async (_context, events) => {
    await events.working();
    for (;;) {
      const last = await new Promise<boolean>((resolve) => {
        next = resolve;
      });
      if (last) return events.complete('done');
      await events.artifact('x', { artifactId: 'a' });
    }
  };
  return { execute, step: (last = false) => next(last) };
}

/** Runs until it is told to stop. */
export const works: Execute = async (context, events) => {
  await events.working();
  await waitForAbort(context);
};
