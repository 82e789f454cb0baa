import type { Task, TaskStatus } from '../../model/task.js';
import { artifactReader, writeArtifact } from './artifact.js';
import type { Dialect } from './dialect.js';
import { listReader, type Members, membersReader, objectReader } from './members.js';
import { messageReader, writeMessage } from './message.js';
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

/** Reads a task. */
export function taskReader(dialect: Dialect): (task: Members) => object {
  return membersReader([
    ['id'],
    ['contextId'],
    ['status', undefined, objectReader(taskStatusReader(dialect))],
    ['artifacts', undefined, listReader(artifactReader(dialect))],
    ['history', undefined, listReader(messageReader(dialect))],
    ['metadata'],
  ]);
}

/** Of a task or of a status event. */
export function writeTaskStatus(dialect: Dialect, { state, message, timestamp }: TaskStatus): object {
  const note = message && writeMessage(dialect, message);
  return { state: writeTaskState(dialect, state), [dialect.note]: note, timestamp };
}

/** Reads the status of a task or of a status event. */
export function taskStatusReader(dialect: Dialect): (status: Members) => object {
  return membersReader([
    ['state', undefined, readTaskState],
    ['message', ['message', 'update'], objectReader(messageReader(dialect))],
    ['timestamp'],
  ]);
}
