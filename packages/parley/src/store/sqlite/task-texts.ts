import type { Task } from '../../model/task.js';
import { ShapedTask, type TaskTexts } from '../../task/shaped-task.js';
import type { Scope } from '../task-key.js';
import type { ListCursor, StoredTask, TaskPage } from '../task-storage.js';

/** The columns of a task `t`, in the order of `FinishedRow`. The large members follow them. */
export const TASK_COLUMNS = 't.pk, t.ended, t.id, t.context_id, t.seq, t.epoch, t.created, t.status, t.metadata';
/** The last columns of a `LeasedRow`. */
export const LEASE_COLUMNS = 't.held, t.lease_end';

/**
 * A finished task as an array of columns, as it is read and posted between threads. The members are JSON; `history` and
 * `artifacts` are `null` if they are absent or excluded.
 */
export type FinishedRow = readonly [
  pk: number,
  ended: number | null,
  id: string,
  contextId: string | null,
  seq: number,
  epoch: number,
  created: number,
  status: string,
  metadata: string | null,
  history: string | null,
  artifacts: string | null,
];

/** Any task as an array of columns. */
export type LeasedRow = readonly [...FinishedRow, held: number | null, leaseEnd: number | null];

/** A task in a list. A finished one has no lease, so that its columns are left out. */
export type TaskRow = FinishedRow | LeasedRow;

/** A page of a list, as rows. */
export interface RowPage extends Omit<TaskPage, 'tasks' | 'texts'> {
  readonly tasks: readonly TaskRow[];
}

/** The texts of a task as columns. */
export interface TextColumns {
  readonly id: string;
  readonly contextId: string | null;
  readonly status: string;
  readonly metadata: string | null;
  readonly history: string | null;
  readonly artifacts: string | null;
}

/** Parses the task of these columns. */
export function parseTask(columns: TextColumns): Task {
  return ShapedTask.parse(textsFrom(columns));
}

/** Returns the texts of a row with all wanted members. */
export function textsOf(row: TaskRow): TaskTexts {
  const [, , id, contextId, , , , status, metadata, history, artifacts] = row;
  return textsFrom({ id, contextId, status, metadata, history, artifacts });
}

function textsFrom({ id, contextId, status, metadata, history, artifacts }: TextColumns): TaskTexts {
  return {
    id,
    contextId: contextId ?? undefined,
    status,
    artifacts: artifacts ?? undefined,
    history: history ?? undefined,
    metadata: metadata ?? undefined,
  };
}

/** Parses the task of a row with all wanted members. */
export function taskOf(row: TaskRow): Task {
  return ShapedTask.parse(textsOf(row));
}

/** Returns the stored task of a row. `running`: its lease ends after `now`. */
export function storedOf(row: TaskRow, task: Task, at: { readonly scope: Scope; readonly now: number }): StoredTask {
  const [, , , , seq, epoch, createdAt, , , , , held = null, leaseEnd = null] = row as Partial<LeasedRow> & TaskRow;
  const running = leaseEnd !== null && leaseEnd > at.now;
  return { scope: at.scope, task, seq, epoch, running, heldTurn: held ?? 0, createdAt };
}

/** The scope of rows, and the time of their read. */
interface ReadAt {
  readonly scope: Scope;
  readonly now: number;
}

/** A page of rows with valid JSON, which is parsed when code reads the tasks. */
export class TextPage implements TaskPage {
  static readonly #tasks: PropertyDescriptor & ThisType<TextPage> = {
    get() {
      this.#parsed ??= this.#rows.map((row) => storedOf(row, taskOf(row), this.#at));
      return this.#parsed;
    },
    enumerable: true,
    configurable: true,
  };
  declare readonly tasks: readonly StoredTask[];
  readonly total: number;
  declare readonly next?: ListCursor;
  readonly #rows: readonly TaskRow[];
  readonly #at: ReadAt;
  #parsed: readonly StoredTask[] | undefined;

  constructor({ tasks, total, next }: RowPage, at: ReadAt) {
    this.#rows = tasks;
    this.#at = at;
    // An own accessor, shared by all pages, as in `TaskList`.
    Object.defineProperty(this, 'tasks', TextPage.#tasks);
    this.total = total;
    if (next !== undefined) this.next = next;
  }

  get texts(): readonly TaskTexts[] {
    return this.#rows.map(textsOf);
  }
}

/** Returns a value as JSON; `null` for an absent one. */
export function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
