import type { Task } from '../model/task.js';

/** The parts of a task that a caller asks for. */
export interface TaskExtent {
  /** Maximum number of the most recent messages, oldest first. Absent: all (Spec §3.2.4). */
  readonly historyLength?: number | undefined;
  /** False leaves the artifacts out (Spec §3.1.4). Default: true. */
  readonly includeArtifacts?: boolean;
}

/** The task without the parts that were not asked for. The same object if nothing is left out. */
export function trimTask(task: Task, extent: TaskExtent): Task {
  const { historyLength, includeArtifacts = true } = extent;
  // Reads no member of the task, because the storage may have it as text.
  if (historyLength === undefined && includeArtifacts) return task;
  const kept = historyLength === undefined ? task.history : recent(task.history, historyLength);
  if (kept === task.history && (includeArtifacts || task.artifacts === undefined)) return task;
  const { artifacts, history: _, metadata, ...head } = task;
  return {
    ...head,
    ...(includeArtifacts && artifacts !== undefined && { artifacts }),
    ...(kept !== undefined && { history: kept }),
    ...(metadata !== undefined && { metadata }),
  };
}

function recent(history: Task['history'], length: number): Task['history'] {
  if (length <= 0 || history === undefined) return undefined;
  return history.length > length ? history.slice(-length) : history;
}
