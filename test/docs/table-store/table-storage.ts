import { type Clock, LocalStorage, type LocalTables, type Logger } from 'parley-a2a/storage-engine';
import { type KeptKey, KeyTables } from './key-tables.js';
import { OwnerTables } from './owner-tables.js';
import { QueueTables } from './queue-tables.js';
import type { QueueRow, Tables, TaskHead } from './rows.js';
import { TaskLists } from './task-lists.js';
import { TaskLog } from './task-log.js';
import { TaskTables } from './task-tables.js';

/** The smallest storage: tables in this process. */
export class TableStorage extends LocalStorage<TaskHead, KeptKey, QueueRow> {
  constructor(
    tables: Tables,
    clock: Clock,
    options: { readonly eventLogBytes?: number; readonly logger?: Logger } = {},
  ) {
    super(partsOf(tables, options.eventLogBytes ?? Number.POSITIVE_INFINITY), clock, options.logger);
  }
}

function partsOf(tables: Tables, eventLogBytes: number): LocalTables<TaskHead, KeptKey, QueueRow> {
  const log = new TaskLog(tables);
  const lists = new TaskLists(tables, log, eventLogBytes);
  return {
    durability: 'none',
    tasks: new TaskTables(tables, log, lists),
    keys: new KeyTables(tables),
    queues: new QueueTables(tables, log),
    owners: new OwnerTables(tables, lists),
    finished: lists,
    transaction: (work) => tables.undo.transaction(work),
    close: () => {},
  };
}
