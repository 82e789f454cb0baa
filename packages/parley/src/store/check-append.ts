import { StorageError } from '../errors/storage-error.js';
import { isTerminal } from '../model/task-state.js';
import type { Append } from './task-storage.js';

/**
 * What a storage relies on: consecutive records, and the whole task with a terminal one.
 * @throws StorageError when the writer broke its side of the contract.
 */
export function checkAppend({ after, records, head, snapshot }: Append): void {
  let seq = after;
  for (const record of records) {
    seq += 1;
    if (record.seq !== seq) throw new StorageError(`Record ${record.seq} was appended in the place of ${seq}`);
  }
  if (snapshot === undefined && isTerminal(head.status.state)) {
    throw new StorageError('A terminal record was appended without the snapshot of the task');
  }
}
