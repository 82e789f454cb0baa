import Type from 'typebox';
import { ArtifactSchema } from './artifact.js';
import { MessageSchema } from './message.js';
import { FreeObject, modelObject, NonEmpty, Timestamp } from './schema.js';
import { TASK_STATES } from './task-state.js';

export type { Task, TaskStatus } from './protocol-types.generated.js';

/** The state of a task, its time, and a message of the agent about it (Spec §4.1.2). */
export const TaskStatusSchema = modelObject('TaskStatus', {
  state: Type.Enum([...TASK_STATES]),
  /** A message of the agent about the status. */
  message: Type.Optional(MessageSchema),
  /** The time of the status, such as `2026-01-31T12:00:00.000Z`. */
  timestamp: Type.Optional(Timestamp),
});

/** A unit of work of an agent (Spec §4.1.1). */
export const TaskSchema = modelObject('Task', {
  /** Made by the agent. Unique for each caller. */
  id: NonEmpty,
  /** The conversation that the task belongs to. */
  contextId: Type.Optional(NonEmpty),
  status: TaskStatusSchema,
  /** The outputs so far. */
  artifacts: Type.Optional(Type.Array(ArtifactSchema)),
  /** The messages of the task, the oldest first. A request may ask for fewer. */
  history: Type.Optional(Type.Array(MessageSchema)),
  /** Free members, for extensions by their URIs. */
  metadata: Type.Optional(FreeObject),
});
