import { type Clock, StorageError } from 'parley-a2a/storage-engine';
import type { ObjectContext, ObjectSql } from './object-context.js';

/** The dependencies of the alarm. */
interface WakeAlarmOptions {
  readonly sql: ObjectSql;
  readonly context: ObjectContext;
  readonly clock: Clock;
  /** Time from a write to the alarm while turns are left, in ms. */
  readonly alarmMs: number;
}

const WORK = `SELECT EXISTS (SELECT 1 FROM task WHERE first_place IS NOT NULL)
    OR EXISTS (SELECT 1 FROM push_queue WHERE due <= ?) AS isUnderWay,
  (SELECT min(due) FROM push_queue WHERE due > ?) AS due`;

/**
 * The alarm that wakes an evicted object. It is set while turns wait or run, or deliveries are pending. Leases do not
 * expire while an object runs, so the alarm replaces the expiry. It repeats while a turn runs, which also shows the
 * platform that the object is in use. For a retry of a delivery, the alarm is set to its time.
 */
export class WakeAlarm {
  readonly #options: WakeAlarmOptions;
  /** The time of the alarm. Undefined: unknown, or no alarm. */
  #time: number | undefined;
  /** The error of the last attempt to set the alarm. */
  #fault: unknown;

  constructor(options: WakeAlarmOptions) {
    this.#options = options;
  }

  /**
   * Sets the alarm in the transaction of a write, unless it is set early enough.
   * @throws StorageError if the last alarm could not be set.
   */
  set(): void {
    if (this.#fault !== undefined) this.#throwFault();
    const { sql, context, clock, alarmMs } = this.#options;
    const now = clock.now();
    const work = sql.get<{ isUnderWay: number; due: number | null }>(WORK, now, now);
    const soon = work?.isUnderWay === 1 ? now + alarmMs : Number.POSITIVE_INFINITY;
    const time = Math.min(soon, work?.due ?? Number.POSITIVE_INFINITY);
    if (time === Number.POSITIVE_INFINITY || (this.#time !== undefined && this.#time <= time)) return;
    this.#time = time;
    context.storage.setAlarm(time).catch((error: unknown) => {
      this.#fault = error;
    });
  }

  /** Drops the cached time, because the transaction that set it was rolled back. */
  forgetTime(): void {
    this.#time = undefined;
  }

  /** Sets the next alarm after the last one. */
  renew(): void {
    this.#time = undefined;
    this.set();
  }

  /** The next write retries. */
  #throwFault(): never {
    const cause = this.#fault;
    this.#fault = undefined;
    this.#time = undefined;
    throw new StorageError('The alarm cannot be set. The class of the Durable Object needs a method alarm', { cause });
  }
}
