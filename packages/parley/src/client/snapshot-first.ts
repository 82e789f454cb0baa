import type { Task } from '../model/task.js';
import type { EventBatches, ReceivedEvent } from './client-transport.js';

/** A subscription with an agent that may begin it with whatever comes next. */
export interface BareSubscription {
  readonly events: EventBatches;
  /** Resolves once the agent has taken the subscription: from then on it misses nothing. */
  readonly opened: Promise<void>;
  /** The task as it is. */
  task(): Promise<Task>;
}

/**
 * The same subscription, beginning with the task: before 1.0 agents need not show it. What arrived before the task was asked for is in
 * the task, and not shown again.
 */
export async function* snapshotFirst({
  events,
  opened,
  task,
}: BareSubscription): AsyncGenerator<readonly ReceivedEvent[], undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let arrived: readonly ReceivedEvent[] | undefined;
  const first = iterator.next().then((result) => {
    if (result.done !== true) arrived = result.value;
    return result;
  });
  // It is waited for below, where there is still somebody to tell.
  first.catch(() => {});
  try {
    await Promise.race([opened, first]);
    const before = arrived;
    const snapshot = await task();
    // TypeScript does not see that it changes while the task is waited for.
    const meanwhile = arrived as readonly ReceivedEvent[] | undefined;
    if (meanwhile !== undefined && beginsWithTask(meanwhile)) yield meanwhile;
    else yield [{ event: { task: meanwhile === before ? snapshot : await task() } }];
    const begun = await first;
    if (begun.done === true) return;
    if (meanwhile === undefined) yield begun.value;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    // Not waited for: where the task could not be had, the first event is still waited for.
    iterator.return?.().catch(() => {});
  }
}

function beginsWithTask([first]: readonly ReceivedEvent[]): boolean {
  return first !== undefined && 'task' in first.event;
}
