import type { Task } from '../model/task.js';
import type { BY_VERB } from '../operations/operations.js';
import type { ReceivedEvent } from './client-transport.js';
import type { OperationCall, OperationCalls } from './operation-calls.js';

/**
 * A subscription that begins with the task. Agents before 1.0 need not send the task first, so GetTask adds it. Events
 * that arrived before GetTask was called are part of its answer and are not repeated.
 *
 * Servers of some bindings show that a stream is open only by its first event (`opensLate`). For these, the client
 * sends GetTask once before. When it is answered, the subscription, which was sent earlier, has arrived.
 */
export async function* snapshotFirst(
  call: OperationCall<(typeof BY_VERB)['subscribe']>,
  { calls, opensLate }: { readonly calls: OperationCalls; readonly opensLate: boolean },
): AsyncGenerator<readonly ReceivedEvent[], undefined> {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  const events = calls.stream({ ...call, opened: resolve });
  const task = () => calls.unary({ ...call, operation: 'getTask' });
  const iterator = events[Symbol.asyncIterator]();
  let arrived: readonly ReceivedEvent[] | undefined;
  const first = firstEvents(iterator).then((result) => {
    if (result.done !== true) arrived = result.value;
    return result;
  });
  // The error is thrown below, where the first event is awaited.
  first.catch(() => {});
  try {
    await Promise.race([opened, first, ...(opensLate ? [task()] : [])]);
    const before = arrived;
    const snapshot = await task();
    // TypeScript does not see that `arrived` changes during the call.
    const meanwhile = arrived as readonly ReceivedEvent[] | undefined;
    let shown: Task | undefined;
    if (meanwhile !== undefined && beginsWithTask(meanwhile)) yield meanwhile;
    else {
      shown = meanwhile === before ? snapshot : await task();
      yield [{ event: { task: shown } }];
    }
    const begun = await first;
    if (begun.done === true) return;
    if (meanwhile === undefined) yield isTask(begun.value[0], shown) ? begun.value.slice(1) : begun.value;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    // Not awaited: after a failed GetTask, the first event may still be pending.
    iterator.return?.().catch(() => {});
  }
}

/** The first batch with events: what keeps a connection open arrives as an empty one. */
async function firstEvents(
  batches: AsyncIterator<readonly ReceivedEvent[], undefined>,
): Promise<IteratorResult<readonly ReceivedEvent[], undefined>> {
  let result = await batches.next();
  while (result.done !== true && result.value.length === 0) result = await batches.next();
  return result;
}

/** True for a first `task` event that GetTask has returned already. */
function isTask(received: ReceivedEvent | undefined, shown: Task | undefined): boolean {
  const { event } = received ?? {};
  return event !== undefined && event.task !== undefined && JSON.stringify(event.task) === JSON.stringify(shown);
}

function beginsWithTask([first]: readonly ReceivedEvent[]): boolean {
  return first !== undefined && first.event.task !== undefined;
}
