import type { ListTasksResponse, StreamResponse, Task, TaskStatus } from 'parley-a2a';
import {
  KINDS,
  OPERATIONS,
  type OperationName,
  v0_3JsonRpc,
  v1_0,
  type WireCodec,
  writeArtifact,
  writeMessage,
  writeTask,
  writeTaskStatus,
} from 'parley-a2a/binding-kit';
import { isTerminal } from 'parley-a2a/kit';

/** The part of a codec that a session uses. */
export type SessionCodec = Pick<WireCodec, 'version' | 'decode' | 'encode' | 'encodeEvent'>;

/**
 * The operations of 1.0 with the messages and tasks of 0.3, for methods with plain arguments. An event of a stream is
 * an array of events for a callback. Lists are read as in 1.0, because 0.3 has none.
 */
export const PLAIN_CODEC: SessionCodec = {
  version: v0_3JsonRpc.version,
  decode: (operation, value, form) => (isList(operation) ? v1_0 : v0_3JsonRpc).decode(operation, value, form),
  encode(operation, response) {
    if (!isList(operation)) return v0_3JsonRpc.encode(operation, response);
    const { tasks, nextPageToken, totalSize } = response as ListTasksResponse;
    return JSON.stringify({ tasks: tasks.map((task) => writeTask(KINDS, task)), nextPageToken, totalSize });
  },
  encodeEvent: ({ event }) => JSON.stringify(callbackEvents(event)),
};

/** As `PLAIN_CODEC`, with a task as events for a callback. */
export const PLAIN_EVENTS_CODEC: SessionCodec = {
  ...PLAIN_CODEC,
  encode: (_, task) => JSON.stringify(callbackEvents({ task: task as Task })),
};

function isList(operation: OperationName): boolean {
  return OPERATIONS[operation].request === 'ListTasksRequest';
}

/**
 * The events for a callback. A task becomes its state and its artifacts. A final state comes after them, so that the
 * artifacts are complete by then. A message stays one event.
 */
function callbackEvents(event: StreamResponse): object[] {
  if (event.statusUpdate !== undefined) return [statusEvent(event.statusUpdate)];
  if (event.artifactUpdate !== undefined) {
    const { taskId, contextId, artifact, append, lastChunk } = event.artifactUpdate;
    return [{ type: 'artifact', taskId, contextId, artifact: writeArtifact(KINDS, artifact), append, lastChunk }];
  }
  if (event.message !== undefined) return [writeMessage(KINDS, event.message)];
  const { id: taskId, contextId, status, artifacts = [] } = event.task;
  const state = statusEvent({ taskId, contextId, status });
  const isOver = isTerminal(status.state);
  const all = artifacts.map((artifact) => ({
    type: 'artifact',
    taskId,
    contextId,
    artifact: writeArtifact(KINDS, artifact),
    lastChunk: isOver || undefined,
  }));
  return isOver ? [...all, state] : [state, ...all];
}

interface StatusEventSource {
  readonly taskId: string;
  readonly contextId?: string | undefined;
  readonly status: TaskStatus;
}

function statusEvent({ taskId, contextId, status }: StatusEventSource): object {
  const final = isTerminal(status.state) || undefined;
  return { type: 'status', taskId, contextId, status: writeTaskStatus(KINDS, status), final };
}

/** True for the last event of a task. */
export function isFinalEvent(event: object): boolean {
  return 'final' in event && event.final === true;
}
