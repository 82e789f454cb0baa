import type { Task } from '../model/task.js';

/** What a caller wants to see of a task. */
export interface TaskExtent {
  /** At most so many of the most recent messages, oldest first; absent: all (Spec §3.2.4). */
  readonly historyLength?: number | undefined;
  /** False leaves the artifacts out (Spec §3.1.4). Default: true. */
  readonly includeArtifacts?: boolean;
}

/** The task without what was not asked for; itself when nothing has to go. */
export function trimTask(task: Task, extent: TaskExtent): Task {
  const { historyLength, includeArtifacts = true } = extent;
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
