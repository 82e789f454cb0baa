import type { Task, TaskStatus } from '../../model/task.js';
import { readArtifact, writeArtifact } from './artifact.js';
import type { Dialect } from './dialect.js';
import { converted, convertedList, type Members, member, present } from './members.js';
import { readMessage, writeMessage } from './message.js';
import { readTaskState, writeTaskState } from './task-state.js';

/** A task, which says so only in the dialect with kinds. */
export function writeTask(dialect: Dialect, task: Task): object {
  const { id, contextId, metadata } = task;
  const content = {
    id,
    contextId,
    status: writeTaskStatus(dialect, task.status),
    artifacts: task.artifacts?.map((artifact) => writeArtifact(dialect, artifact)),
    history: task.history?.map((message) => writeMessage(dialect, message)),
    metadata,
  };
  return dialect.kinds ? { kind: 'task', ...content } : content;
}

/** See `writeTask`. */
export function readTask(dialect: Dialect, task: Members): object {
  return present({
    id: member(task, 'id'),
    contextId: member(task, 'contextId'),
    status: readTaskStatus(dialect, member(task, 'status')),
    artifacts: convertedList(member(task, 'artifacts'), (artifact) => readArtifact(dialect, artifact)),
    history: convertedList(member(task, 'history'), (message) => readMessage(dialect, message)),
    metadata: member(task, 'metadata'),
  });
}

/** Of a task or of a status event. */
export function writeTaskStatus(dialect: Dialect, { state, message, timestamp }: TaskStatus): object {
  const note = message && writeMessage(dialect, message);
  return { state: writeTaskState(dialect, state), [dialect.note]: note, timestamp };
}

/** See `writeTaskStatus`. */
export function readTaskStatus(dialect: Dialect, status: unknown): unknown {
  return converted(status, (members) =>
    present({
      state: readTaskState(member(members, 'state')),
      message: converted(member(members, 'message', 'update'), (message) => readMessage(dialect, message)),
      timestamp: member(members, 'timestamp'),
    }),
  );
}
