import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../model/stream-response.js';
import { isTerminal } from '../../model/task-state.js';
import type { StreamItem } from '../../task/stream-item.js';
import type { Dialect } from './dialect.js';
import { type Members, membersReader, objectReader } from './members-reader.js';
import { messageReader, writeMessage } from './message.js';
import { artifactReader, taskReader, taskStatusReader, writeArtifact, writeTask, writeTaskStatus } from './task.js';

/** Writes an event or a direct answer: bare with its kind, or as the only member of an object. */
export function writeStreamResponse(dialect: Dialect, { event, last = false }: StreamItem): object {
  if (event.artifactUpdate !== undefined) {
    const update = writeArtifactUpdate(dialect, event.artifactUpdate);
    return dialect.kinds ? update : { artifactUpdate: update };
  }
  if (event.statusUpdate !== undefined) {
    const update = writeStatusUpdate(dialect, event.statusUpdate, last);
    return dialect.kinds ? update : { statusUpdate: update };
  }
  if (event.task !== undefined) {
    const task = writeTask(dialect, event.task);
    return dialect.kinds ? task : { task };
  }
  const message = writeMessage(dialect, event.message);
  return dialect.kinds ? message : { [dialect.reply]: message };
}

/** Writes a status event. `final` is true if the stream ends with this event. */
function writeStatusUpdate(dialect: Dialect, event: TaskStatusUpdateEvent, last: boolean): object {
  const { taskId, contextId, metadata } = event;
  const status = writeTaskStatus(dialect, event.status);
  const final = last || isTerminal(event.status.state);
  return dialect.kinds
    ? { kind: 'status-update', taskId, contextId, status, final, metadata }
    : { taskId, contextId, status, final, metadata };
}

function writeArtifactUpdate(dialect: Dialect, event: TaskArtifactUpdateEvent): object {
  const { taskId, contextId, append, lastChunk, metadata } = event;
  const artifact = writeArtifact(dialect, event.artifact);
  return dialect.kinds
    ? { kind: 'artifact-update', taskId, contextId, artifact, append, lastChunk, metadata }
    : { taskId, contextId, artifact, append, lastChunk, metadata };
}

/** Reads an event or a direct answer by its kind, or by its only member. The model has no `final`: it is dropped. */
export function streamResponseReader(dialect: Dialect): (value: Members) => object {
  const task = objectReader(taskReader(dialect));
  const message = objectReader(messageReader(dialect));
  const statusUpdate = objectReader(
    membersReader([
      ['taskId'],
      ['contextId'],
      ['status', undefined, objectReader(taskStatusReader(dialect))],
      ['metadata'],
    ]),
  );
  const artifactUpdate = objectReader(
    membersReader([
      ['taskId'],
      ['contextId'],
      ['artifact', undefined, objectReader(artifactReader(dialect))],
      ['append'],
      ['lastChunk'],
      ['metadata'],
    ]),
  );
  if (!dialect.kinds) {
    return membersReader([
      ['task', undefined, task],
      ['message', ['message', 'msg'], message],
      ['statusUpdate', undefined, statusUpdate],
      ['artifactUpdate', undefined, artifactUpdate],
    ]);
  }
  return (value) => {
    switch (value.kind) {
      case 'task':
        return { task: task(value) };
      case 'message':
        return { message: message(value) };
      case 'status-update':
        return { statusUpdate: statusUpdate(value) };
      case 'artifact-update':
        return { artifactUpdate: artifactUpdate(value) };
      default:
        return value;
    }
  };
}
