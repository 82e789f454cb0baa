import {
  type Clock,
  LocalStorage,
  type LocalTables,
  type Logger,
  StorageError,
  systemClock,
} from 'parley-a2a/storage-engine';
import { type KeyRow, KeyTables } from './key-tables.js';
import { type ObjectContext, ObjectSql } from './object-context.js';
import { OwnerTables } from './owner-tables.js';
import { type QueueRow, QueueTables } from './queue-tables.js';
import { Retention } from './retention.js';
import { prepareSchema } from './schema.js';
import { TaskLists } from './task-lists.js';
import { TaskLog } from './task-log.js';
import { type TaskRow, TaskRows } from './task-rows.js';
import { TaskTables } from './task-tables.js';
import { WakeAlarm } from './wake-alarm.js';

export type { ObjectContext, SqlValue } from './object-context.js';

/** Options of a storage in a Durable Object. */
interface DurableObjectStorageOptions {
  /** Maximum bytes of the event logs of finished tasks. Above it, the oldest are deleted. Default: 1 GiB. */
  readonly eventLogBytes?: number;
  /** Time until the alarm that resumes turns after an eviction of the object, in ms. Default: 30 s. */
  readonly alarmMs?: number;
  /** Default: the time of the machine. */
  readonly clock?: Clock;
  /** Logs each task that cannot be read. Default: none. */
  readonly logger?: Logger;
}

const EVENT_LOG_BYTES = 1_073_741_824;
const ALARM_MS = 30_000;

/** Ends all leases. They belong to an earlier instance, which has ended: an object has one instance at a time. */
const VOID_LEASES = `UPDATE task SET held_turn = NULL, held_node = NULL, lease_end = NULL
    WHERE first_place IS NOT NULL AND held_turn IS NOT NULL;
  UPDATE push_queue SET node = NULL, lease_end = NULL WHERE node IS NOT NULL`;

/**
 * Tasks in the SQLite of a Durable Object. `power-loss`: a call resolves before its write is on disk. The output gate
 * of the object holds back every response, message and request until the platform has stored the write. If that fails,
 * the object restarts, and nothing that was sent depended on the write.
 */
export class DurableObjectStorage extends LocalStorage<TaskRow, KeyRow, QueueRow> {
  readonly #alarm: WakeAlarm;

  constructor(context: ObjectContext, options: DurableObjectStorageOptions = {}) {
    if (Object(Object(context).storage).sql === undefined)
      throw new StorageError('durableObjectStorage: takes the context of a Durable Object whose class has SQLite');
    const { eventLogBytes = EVENT_LOG_BYTES, alarmMs = ALARM_MS, clock = systemClock, logger } = options;
    const sql = new ObjectSql(context);
    prepareSchema(sql);
    sql.run(VOID_LEASES);
    const alarm = new WakeAlarm({ sql, context, clock, alarmMs });
    super(tablesOf(sql, { eventLogBytes, alarm }), clock, logger);
    this.#alarm = alarm;
  }

  /**
   * Sets the next alarm, if work is left. `alarm()` of the object must call it, and then start its agents. They resume
   * the turns that an eviction of the object has interrupted.
   */
  alarm(): void {
    this.#alarm.renew();
  }
}

/**
 * Opens the storage of a Durable Object whose class has the storage backend SQLite. Must be called once, in the
 * constructor of the object. The class needs a method `alarm` that calls `alarm` of the storage.
 * @throws StorageError if a newer version has written the tables.
 */
export function durableObjectStorage(
  context: ObjectContext,
  options: DurableObjectStorageOptions = {},
): DurableObjectStorage {
  return new DurableObjectStorage(context, options);
}

function tablesOf(
  sql: ObjectSql,
  { eventLogBytes, alarm }: { readonly eventLogBytes: number; readonly alarm: WakeAlarm },
): LocalTables<TaskRow, KeyRow, QueueRow> {
  const rows = new TaskRows(sql);
  const log = new TaskLog(sql);
  const lists = new TaskLists(sql, rows, log);
  const retention = new Retention(sql, log, eventLogBytes);
  const keys = new KeyTables(sql, rows);
  const transaction = <R>(work: () => R): R => {
    try {
      return sql.transaction(() => {
        const result = work();
        alarm.set();
        return result;
      });
    } catch (error) {
      alarm.forgetTime();
      retention.forgetSizes();
      keys.forgetKeys();
      throw error;
    }
  };
  return {
    durability: 'power-loss',
    tasks: new TaskTables({ sql, rows, log, lists, retention }),
    keys,
    queues: new QueueTables(sql, log),
    owners: new OwnerTables({ sql, rows, keys, retention }),
    finished: retention,
    transaction,
    close: () => {},
  };
}
