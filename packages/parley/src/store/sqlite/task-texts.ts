import type { Task } from '../../model/task.js';
import { ShapedTask } from '../../task/shaped-task.js';
import type { Scope, StoredTask } from '../task-storage.js';

/** The columns of a task `t`, in the order of `TaskRow`. The large members of the task follow. */
export const TASK_COLUMNS = `t.pk, t.ended, t.status_time, t.id, t.context_id, t.seq, t.epoch, t.created, t.held, t.lease_end,
  t.status, t.metadata`;

/**
 * A task as an array of columns: as it is read and as it travels between threads. The members of the task are JSON
 * text; `history` and `artifacts` are `null` if they are absent or not wanted.
 */
export type TaskRow = readonly [
  pk: number,
  ended: number | null,
  statusTime: number,
  id: string,
  contextId: string | null,
  seq: number,
  epoch: number,
  created: number,
  held: number | null,
  leaseEnd: number | null,
  status: string,
  metadata: string | null,
  history: string | null,
  artifacts: string | null,
];

/** The members of a task that are kept as text. */
export interface TaskTexts {
  readonly id: string;
  readonly contextId: string | null;
  readonly status: string;
  readonly metadata: string | null;
  readonly history: string | null;
  readonly artifacts: string | null;
}

/** The task of these texts. */
export function parseTask({ id, contextId, status, metadata, history, artifacts }: TaskTexts): Task {
  return ShapedTask.parse(
    { id, contextId: contextId ?? undefined },
    {
      status,
      artifacts: artifacts ?? undefined,
      history: history ?? undefined,
      metadata: metadata ?? undefined,
    },
  );
}

/** The task of a row that holds all wanted members. */
export function taskOf(row: TaskRow): Task {
  const [, , , id, contextId, , , , , , status, metadata, history, artifacts] = row;
  return parseTask({ id, contextId, status, metadata, history, artifacts });
}

/** The stored task of a row. `running` holds if its lease ends after `now`. */
export function storedOf(row: TaskRow, task: Task, at: { readonly scope: Scope; readonly now: number }): StoredTask {
  const [, , , , , seq, epoch, createdAt, held, leaseEnd] = row;
  const running = leaseEnd !== null && leaseEnd > at.now;
  return { scope: at.scope, task, seq, epoch, running, heldTurn: held ?? 0, createdAt };
}

/** A value as JSON text; `null` for one that is absent. */
export function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
