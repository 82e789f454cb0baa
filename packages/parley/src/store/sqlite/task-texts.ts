import type { Task } from '../../model/task.js';
import { ShapedTask } from '../../task/shaped-task.js';
import type { StoredTask } from '../task-storage.js';

/** A stored task with its members as JSON text, the way it is kept and travels between threads. */
export interface TaskTexts {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly contextId: string | null;
  readonly seq: number;
  readonly epoch: number;
  readonly created: number;
  readonly leaseEnd: number | null;
  readonly status: string;
  readonly metadata: string | null;
  readonly history: string | null;
  readonly artifacts: string | null;
}

/** The members of a task that are kept as text. */
export type TaskColumns = Pick<TaskTexts, 'id' | 'contextId' | 'status' | 'metadata' | 'history' | 'artifacts'>;

/** The task of these texts. */
export function parseTask({ id, contextId, status, metadata, history, artifacts }: TaskColumns): Task {
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

/** What a storage answers for a task with these texts. */
export function storedOf(texts: Omit<TaskTexts, keyof TaskColumns>, task: Task, now: number): StoredTask {
  const { agent, tenant, owner, seq, epoch, created, leaseEnd } = texts;
  const running = leaseEnd !== null && leaseEnd > now;
  return { scope: { agent, tenant, owner }, task, seq, epoch, running, createdAt: created };
}

/** A value as JSON text; `null` for one that is absent. */
export function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
