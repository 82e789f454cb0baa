import type { Artifact } from '../../model/artifact.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { TASK_STATES, type TaskState } from '../../model/task-state.js';
import type { Dialect } from './dialect.js';
import { listReader, type Members, membersReader, objectReader } from './members-reader.js';
import { messageReader, writeMessage } from './message.js';
import { partReader, writePart } from './part.js';

/** Writes a task; only the dialect with kinds marks it. */
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

/** Writes the status of a task or of a status event. */
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

/** Writes an artifact, whose parts differ between the dialects. */
export function writeArtifact(dialect: Dialect, artifact: Artifact): object {
  const { artifactId, name, description, metadata, extensions } = artifact;
  const parts = artifact.parts.map((part) => writePart(dialect, part));
  return { artifactId, name, description, parts, metadata, extensions };
}

/** Reads an artifact. */
export function artifactReader(dialect: Dialect): (artifact: Members) => object {
  return membersReader([
    ['artifactId'],
    ['name'],
    ['description'],
    ['parts', undefined, listReader(partReader(dialect))],
    ['metadata'],
    ['extensions'],
  ]);
}

const PREFIX = 'TASK_STATE_';
const names = new Map(
  TASK_STATES.map((state, number) => {
    const word = number === 0 ? 'unknown' : state.slice(PREFIX.length).toLowerCase().replace('_', '-');
    return [state, { word, proto: state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state }];
  }),
);
const states = new Map<unknown, TaskState>();
for (const [number, state] of TASK_STATES.entries()) {
  const { word, proto } = names.get(state) ?? {};
  states.set(number, state).set(state, state).set(word, state).set(proto, state);
}

/** Writes a state: `input-required` in the dialect with kinds, `TASK_STATE_INPUT_REQUIRED` in ProtoJSON. */
export function writeTaskState({ kinds }: Dialect, state: TaskState): string | undefined {
  const name = names.get(state);
  return kinds ? name?.word : name?.proto;
}

/** Reads a state in any spelling. An unknown state is unspecified, and so not final. */
export function readTaskState(value: unknown): TaskState {
  return states.get(value) ?? 'TASK_STATE_UNSPECIFIED';
}
