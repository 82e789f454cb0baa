import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../model/stream-response.js';
import { isTerminal } from '../../model/task-state.js';
import type { StreamItem } from '../../task/stream-item.js';
import { readArtifact, writeArtifact } from './artifact.js';
import type { Dialect } from './dialect.js';
import { converted, type Members, member, present } from './members.js';
import { readMessage, writeMessage } from './message.js';
import { readTask, readTaskStatus, writeTask, writeTaskStatus } from './task.js';

/** An event or a direct answer: bare with its kind, or as the one member of an object. */
export function writeStreamResponse(dialect: Dialect, { event, last = false }: StreamItem): object {
  if ('artifactUpdate' in event) {
    const update = writeArtifactUpdate(dialect, event.artifactUpdate);
    return dialect.kinds ? update : { artifactUpdate: update };
  }
  if ('statusUpdate' in event) {
    const update = writeStatusUpdate(dialect, event.statusUpdate, last);
    return dialect.kinds ? update : { statusUpdate: update };
  }
  if ('task' in event) {
    const task = writeTask(dialect, event.task);
    return dialect.kinds ? task : { task };
  }
  const message = writeMessage(dialect, event.message);
  return dialect.kinds ? message : { [dialect.reply]: message };
}

/** `final` says that the stream ends with this event: with the task, or with a turn that asks for input. */
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

/** What an event is, by its kind or by the one member it has. `final` has no place in the model and is dropped. */
export function readStreamResponse(dialect: Dialect, value: Members): object {
  const kind = dialect.kinds ? value.kind : Object.keys(value)[0];
  const content = (name: string, alias?: string): Members => {
    const inner = dialect.kinds ? value : member(value, name, alias);
    return (inner ?? {}) as Members;
  };
  switch (kind) {
    case 'task':
      return { task: converted(content('task'), (task) => readTask(dialect, task)) };
    case 'message':
    case 'msg':
      return { message: converted(content('message', 'msg'), (message) => readMessage(dialect, message)) };
    case 'status-update':
    case 'statusUpdate':
    case 'status_update':
      return { statusUpdate: converted(content('statusUpdate'), (event) => readStatusUpdate(dialect, event)) };
    case 'artifact-update':
    case 'artifactUpdate':
    case 'artifact_update':
      return { artifactUpdate: converted(content('artifactUpdate'), (event) => readArtifactUpdate(dialect, event)) };
    default:
      return value;
  }
}

function readStatusUpdate(dialect: Dialect, event: Members): object {
  return present({
    taskId: member(event, 'taskId'),
    contextId: member(event, 'contextId'),
    status: readTaskStatus(dialect, member(event, 'status')),
    metadata: member(event, 'metadata'),
  });
}

function readArtifactUpdate(dialect: Dialect, event: Members): object {
  return present({
    taskId: member(event, 'taskId'),
    contextId: member(event, 'contextId'),
    artifact: converted(member(event, 'artifact'), (artifact) => readArtifact(dialect, artifact)),
    append: member(event, 'append'),
    lastChunk: member(event, 'lastChunk'),
    metadata: member(event, 'metadata'),
  });
}
