import Type from 'typebox';
import { ArtifactSchema } from './artifact.js';
import { MessageSchema } from './message.js';
import { closed, FreeObject, NonEmpty, Timestamp } from './schema.js';
import { TASK_STATES } from './task-state.js';

export type { Task, TaskStatus } from './protocol-types.generated.js';

/** The state of a task, its time, and a message of the agent about it (Spec §4.1.2). */
export const TaskStatusSchema = closed('TaskStatus', {
  state: Type.Enum([...TASK_STATES]),
  message: Type.Optional(MessageSchema),
  timestamp: Type.Optional(Timestamp),
});

/** A unit of work of an agent (Spec §4.1.1). */
export const TaskSchema = closed('Task', {
  id: NonEmpty,
  contextId: Type.Optional(NonEmpty),
  status: TaskStatusSchema,
  artifacts: Type.Optional(Type.Array(ArtifactSchema)),
  history: Type.Optional(Type.Array(MessageSchema)),
  metadata: Type.Optional(FreeObject),
});
