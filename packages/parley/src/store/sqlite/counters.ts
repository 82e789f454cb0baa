import { nextPlace } from '../rules/turn-place.js';
import { isDamage } from './file-fault.js';
import type { Statements } from './statements.js';
import type { KeyRow } from './write-requests.js';

/** Count of idempotency keys, and about the bytes that they take. */
interface RememberedSize {
  readonly keys: number;
  readonly bytes: number;
}

const NO_KEYS: RememberedSize = { keys: 0, bytes: 0 };

/** The bytes of a row of `idempotency`, its place in two indexes included. */
export const KEY_BYTES =
  '2 * octet_length(key) + coalesce(octet_length(task), 0) + coalesce(octet_length(reply), 0) + 80';

/** The same of a row that is yet to be written. */
export function keyBytes({ key, task, reply }: Pick<KeyRow, 'key' | 'task' | 'reply'>): number {
  return 2 * Buffer.byteLength(key) + Buffer.byteLength(task ?? '') + Buffer.byteLength(reply ?? '') + 80;
}

const REMEMBERED = `SELECT count(*) AS keys, coalesce(sum(${KEY_BYTES}), 0) AS bytes FROM idempotency`;
const ADD_TASKS = 'INSERT INTO task_count VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks';

/** Counts that the writer keeps beside the tables: tasks by state, sizes of logs and keys, and the last numbers. */
export class Counters {
  readonly #sql: Statements;
  /** Changes to the counters of tasks that are still to be written, by `scope state`. */
  readonly #tasks = new Map<string, number>();
  /** About what the records of all finished tasks take, and how that changes with this transaction. */
  #logBytes: number;
  #logChange = 0;
  /** The idempotency keys, and how they change with this transaction. */
  #remembered: RememberedSize;
  #rememberedChange: RememberedSize = NO_KEYS;
  #lastTask: number;
  #lastContext: number;
  #lastPlace: number;
  #lastEnded: number;
  /** No lease ends before this. */
  nextLeaseEnd = 0;

  constructor(sql: Statements) {
    this.#sql = sql;
    const last = (column: string, table: string) =>
      sql.get<{ last: number | null }>(`SELECT max(${column}) AS last FROM ${table}`)?.last ?? 0;
    this.#lastTask = last('pk', 'task');
    this.#lastContext = last('context', 'task WHERE context IS NOT NULL');
    this.#lastPlace = last('place', 'execution');
    this.#lastEnded = Math.max(last('ended', 'task WHERE ended IS NOT NULL'), this.sweptUntil());
    const logs = 'SELECT sum(bytes) AS sum FROM task WHERE ended IS NOT NULL AND ended >= ?';
    this.#logBytes = sql.get<{ sum: number | null }>(logs, this.sweptUntil())?.sum ?? 0;
    this.#remembered = this.#countRemembered();
  }

  /** Writes the counters of tasks, in the transaction that changed them. */
  write(): void {
    for (const [key, tasks] of this.#tasks) {
      if (tasks === 0) continue;
      const [scope = 0, state = 0] = key.split(' ').map(Number);
      this.#sql.run(ADD_TASKS, scope, state, tasks);
    }
  }

  /** The transaction is committed. */
  committed(): void {
    this.#logBytes += this.#logChange;
    this.#remembered = this.remembered;
    this.rolledBack();
  }

  /** The transaction is undone. */
  rolledBack(): void {
    this.#tasks.clear();
    this.#logChange = 0;
    this.#rememberedChange = NO_KEYS;
  }

  nextTask(): number {
    this.#lastTask += 1;
    return this.#lastTask;
  }

  nextContext(): number {
    this.#lastContext += 1;
    return this.#lastContext;
  }

  nextPlace(now: number): number {
    this.#lastPlace = nextPlace(this.#lastPlace, now);
    return this.#lastPlace;
  }

  /** The time at which a task that ends now has ended: never before one that ended earlier. */
  endTime(now: number): number {
    this.#lastEnded = Math.max(this.#lastEnded, now);
    return this.#lastEnded;
  }

  countTask(scope: number, state: number, by: 1 | -1): void {
    const key = `${scope} ${state}`;
    this.#tasks.set(key, (this.#tasks.get(key) ?? 0) + by);
  }

  /** Takes note of a lease: claims look for ended ones only after the first of them may have ended. */
  noteLease(end: number): void {
    this.nextLeaseEnd = Math.min(this.nextLeaseEnd, end);
  }

  /** About what the records of all finished tasks take. */
  get finishedLogBytes(): number {
    return this.#logBytes + this.#logChange;
  }

  /** The records of a finished task have come to this, or have gone. */
  changeFinishedLogs(bytes: number): void {
    this.#logChange += bytes;
  }

  get remembered(): RememberedSize {
    const { keys, bytes } = this.#rememberedChange;
    return { keys: this.#remembered.keys + keys, bytes: this.#remembered.bytes + bytes };
  }

  /** A key was added, or has gone. */
  changeRemembered(by: 1 | -1, bytes: number): void {
    this.#sql.wrote = true;
    const change = this.#rememberedChange;
    this.#rememberedChange = { keys: change.keys + by, bytes: change.bytes + bytes };
  }

  /** Corrects what a clock that was ahead has written: no task has ended later than now. */
  setClockBack(now: number): void {
    if (this.#lastEnded <= now) return;
    this.#sql.run('UPDATE task SET ended = ? WHERE ended > ?', now, now);
    if (this.sweptUntil() > now) this.setSweptUntil(now);
    this.#lastEnded = now;
  }

  /** The logs of all tasks that ended before this are gone. */
  sweptUntil(): number {
    return Number(this.#sql.get<{ value: string }>("SELECT value FROM meta WHERE name = 'swept'")?.value ?? 0);
  }

  setSweptUntil(time: number): void {
    this.#lastEnded = Math.max(this.#lastEnded, time);
    this.#sql.run("INSERT OR REPLACE INTO meta VALUES ('swept', ?)", String(time));
  }

  /** A damaged table has no size: what can be read of it is still good. */
  #countRemembered(): RememberedSize {
    try {
      return this.#sql.get<RememberedSize>(REMEMBERED) ?? NO_KEYS;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return NO_KEYS;
    }
  }
}
