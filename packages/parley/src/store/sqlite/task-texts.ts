import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { shapeTask } from '../../task/shape-task.js';
import type { StoredTask } from '../storage.js';

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
export type MemberTexts = Pick<TaskTexts, 'id' | 'contextId' | 'status' | 'metadata' | 'history' | 'artifacts'>;

/** The task of these texts. */
export function parseTask({ id, contextId, status, metadata, history, artifacts }: MemberTexts): Task {
  return shapeTask({
    id,
    contextId: contextId ?? undefined,
    status: JSON.parse(status) as TaskStatus,
    artifacts: parsed<readonly Artifact[]>(artifacts),
    history: parsed<readonly Message[]>(history),
    metadata: parsed<JsonObject>(metadata),
  });
}

/** What a storage answers for a task with these texts. */
export function storedOf(texts: Omit<TaskTexts, keyof MemberTexts>, task: Task, now: number): StoredTask {
  const { agent, tenant, owner, seq, epoch, created, leaseEnd } = texts;
  const running = leaseEnd !== null && leaseEnd > now;
  return { scope: { agent, tenant, owner }, task, seq, epoch, running, createdAt: created };
}

/** A value as JSON text; `null` for one that is absent. */
export function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function parsed<T>(text: string | null): T | undefined {
  return text === null ? undefined : (JSON.parse(text) as T);
}
