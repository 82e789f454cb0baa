import { nextPlace } from '../rules/turn-place.js';
import { RememberedSizes } from './remembered-sizes.js';
import type { Statements } from './statements.js';

const ADD_TASKS = 'INSERT INTO task_count VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks';

/** Counts that the writer caches: tasks by state, sizes of logs and keys, and the last numbers. */
export class Counters {
  /** The sizes of the idempotency keys, by `lasting`: each of the two has its own limits. */
  readonly remembered: readonly [passing: RememberedSizes, lasting: RememberedSizes];
  readonly #sql: Statements;
  /** Unwritten changes of the counters of tasks, by `scope state`. */
  readonly #tasks = new Map<string, number>();
  /** Approximate bytes of the records of all finished tasks, and the change by this transaction. */
  #logBytes: number;
  #logChange = 0;
  #lastTask: number;
  #lastContext: number;
  #lastPlace: number;
  #lastEnded: number;
  /** The earliest end of a lease: no lease ends before it. */
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
    this.remembered = [new RememberedSizes(sql, 0), new RememberedSizes(sql, 1)];
  }

  /** Writes the counters of tasks, in the same transaction as the tasks. */
  write(): void {
    for (const [key, tasks] of this.#tasks) {
      if (tasks === 0) continue;
      const [scope = 0, state = 0] = key.split(' ').map(Number);
      this.#sql.run(ADD_TASKS, scope, state, tasks);
    }
  }

  /** Must be called after a commit. */
  committed(): void {
    this.#logBytes += this.#logChange;
    for (const sizes of this.remembered) sizes.committed();
    this.#forgetChanges();
  }

  /** Must be called after a rollback. */
  rolledBack(): void {
    for (const sizes of this.remembered) sizes.rolledBack();
    this.#forgetChanges();
  }

  #forgetChanges(): void {
    this.#tasks.clear();
    this.#logChange = 0;
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

  /** Returns the end time of a task that ends now: never before the end of an earlier task. */
  endTime(now: number): number {
    this.#lastEnded = Math.max(this.#lastEnded, now);
    return this.#lastEnded;
  }

  countTask(scope: number, state: number, by: 1 | -1): void {
    const key = `${scope} ${state}`;
    this.#tasks.set(key, (this.#tasks.get(key) ?? 0) + by);
  }

  /** Records the end of a lease. Claims look for expired leases only after the earliest one. */
  noteLease(end: number): void {
    this.nextLeaseEnd = Math.min(this.nextLeaseEnd, end);
  }

  /** Approximate bytes of the records of all finished tasks. */
  get finishedLogBytes(): number {
    return this.#logBytes + this.#logChange;
  }

  /** Adds the bytes of the records of a finished task, or subtracts deleted ones. */
  changeFinishedLogs(bytes: number): void {
    this.#logChange += bytes;
  }

  /** Corrects end times that are later than now, after a clock was ahead. */
  setClockBack(now: number): void {
    if (this.#lastEnded <= now) return;
    this.#sql.run('UPDATE task SET ended = ? WHERE ended > ?', now, now);
    if (this.sweptUntil() > now) this.setSweptUntil(now);
    this.#lastEnded = now;
  }

  /** The time before which no finished task has a log. */
  sweptUntil(): number {
    return Number(this.#sql.get<{ value: string }>("SELECT value FROM meta WHERE name = 'swept'")?.value ?? 0);
  }

  setSweptUntil(time: number): void {
    this.#lastEnded = Math.max(this.#lastEnded, time);
    this.#sql.run("INSERT OR REPLACE INTO meta VALUES ('swept', ?)", String(time));
  }
}
