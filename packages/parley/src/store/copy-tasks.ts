import { StorageError } from '../errors/storage-error.js';
import type { CopiedKey, CopiedTask, TransferCounts, TransferSource, TransferTarget } from './task-transfer.js';

/** Options of a copy. */
interface CopyOptions {
  readonly from: TransferSource;
  readonly to: TransferTarget;
  /** Resumes a copy that was interrupted: existing tasks are not changed. */
  readonly resume?: boolean;
  /** Called with the number of tasks read, and the total. */
  readonly onProgress?: (tasks: number, all: number) => void;
}

/** The outcome of a copy. */
export interface CopiedCounts extends TransferCounts {
  /** Tasks that existed already. */
  readonly present: number;
}

/** Approximate maximum of tasks and bytes in one transaction. */
const BATCH_TASKS = 200;
const BATCH_BYTES = 4_194_304;
const BATCH_KEYS = 1_000;

/**
 * Copies everything from one storage to another, and compares the counts at the end.
 * @throws StorageError if the target is not empty, unless an interrupted copy is resumed, and if the counts differ.
 */
export async function copyTasks({ from, to, resume = false, onProgress }: CopyOptions): Promise<CopiedCounts> {
  const counts = await from.counts();
  const { tasks: found } = await to.counts();
  if (found > 0 && !resume) {
    throw new StorageError(
      `The target has ${found} tasks already: name an empty one, or resume the copy that was interrupted`,
      { fault: 'not-empty' },
    );
  }
  let read = 0;
  let written = 0;
  for await (const batch of batches(from.tasks(), BATCH_TASKS, taskSize)) {
    written += await to.putTasks(batch);
    read += batch.length;
    onProgress?.(read, counts.tasks);
  }
  for await (const batch of batches(from.keys(), BATCH_KEYS, keySize)) await to.putKeys(batch);
  const target = await to.counts();
  const differences = (Object.keys(counts) as (keyof TransferCounts)[])
    .filter((name) => (resume ? target[name] < counts[name] && name === 'tasks' : target[name] !== counts[name]))
    .map((name) => `${target[name]} of ${counts[name]} ${NAMES[name]}`);
  if (differences.length > 0) throw new StorageError(`The target has ${differences.join(', ')}: the copy is not whole`);
  return { ...counts, present: read - written };
}

const NAMES: Readonly<Record<keyof TransferCounts, string>> = {
  tasks: 'tasks',
  records: 'events',
  turns: 'turns',
  pushConfigs: 'webhooks',
  keys: 'idempotency keys',
};

async function* batches<T>(
  items: AsyncIterable<T>,
  limit: number,
  sizeOf: (item: T) => number,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for await (const item of items) {
    batch.push(item);
    bytes += sizeOf(item);
    if (batch.length < limit && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function taskSize({ records, artifacts, history }: CopiedTask): number {
  let bytes = (artifacts?.length ?? 0) + (history?.length ?? 0);
  for (const { event } of records) bytes += event.length;
  return bytes;
}

function keySize({ reply }: CopiedKey): number {
  return reply?.length ?? 0;
}
