import { acceptedBefore, createdBefore } from './accept-task.js';
import { isRepeat } from './append-records.js';
import { claimedBefore } from './claim-turns.js';
import type { AppendOperation, AppendResult, Operation } from './operations.js';
import { waitingIn } from './task-turns.js';
import type { WriteTables } from './write-tables.js';

/**
 * What an operation has led to, if it was done by a thread that died before it could say so; `undefined` if it is to be
 * done. Operations that may simply be done twice are none of its business.
 */
export function resultOf(tables: WriteTables, operation: Operation): unknown {
  switch (operation[0]) {
    case 'accept':
      return acceptedBefore(tables, operation);
    case 'append':
      return appendedBefore(tables, operation);
    case 'claim':
      return claimedBefore(tables, operation);
    case 'create':
      return createdBefore(tables, operation);
    default:
      return undefined;
  }
}

function appendedBefore(tables: WriteTables, operation: AppendOperation): AppendResult | undefined {
  const head = tables.head(operation[1], operation[2]);
  return head !== undefined && isRepeat(tables, head, operation) ? ['appended', waitingIn(head)] : undefined;
}
