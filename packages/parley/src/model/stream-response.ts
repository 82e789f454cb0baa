import Type from 'typebox';
import { ArtifactSchema } from './artifact.js';
import { MessageSchema } from './message.js';
import type { SendMessageResponse, StreamResponse } from './protocol-types.generated.js';
import { FreeObject, modelObject, NonEmpty } from './schema.js';
import { TaskSchema, TaskStatusSchema } from './task.js';

export type {
  SendMessageResponse,
  StreamResponse,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from './protocol-types.generated.js';

/** A change of the status of a task (Spec §4.2.1). */
export const TaskStatusUpdateEventSchema = modelObject('TaskStatusUpdateEvent', {
  taskId: NonEmpty,
  contextId: NonEmpty,
  status: TaskStatusSchema,
  metadata: Type.Optional(FreeObject),
});

/** A new artifact, or a chunk of one (Spec §4.2.2). */
export const TaskArtifactUpdateEventSchema = modelObject('TaskArtifactUpdateEvent', {
  taskId: NonEmpty,
  contextId: NonEmpty,
  artifact: ArtifactSchema,
  append: Type.Optional(Type.Boolean()),
  lastChunk: Type.Optional(Type.Boolean()),
  metadata: Type.Optional(FreeObject),
});

const TaskPayloadSchema = modelObject('TaskPayload', { task: TaskSchema });
const MessagePayloadSchema = modelObject('MessagePayload', { message: MessageSchema });
const StatusUpdatePayloadSchema = modelObject('StatusUpdatePayload', { statusUpdate: TaskStatusUpdateEventSchema });
const ArtifactUpdatePayloadSchema = modelObject('ArtifactUpdatePayload', {
  artifactUpdate: TaskArtifactUpdateEventSchema,
});

/** One event of a stream or a push notification: exactly one of its members (Spec §3.2.3). */
export const StreamResponseSchema = Type.Union(
  [TaskPayloadSchema, MessagePayloadSchema, StatusUpdatePayloadSchema, ArtifactUpdatePayloadSchema],
  { $id: 'StreamResponse' },
);

/** The answer to SendMessage: a task or a direct message (Spec §3.1.1). */
export const SendMessageResponseSchema = Type.Union([TaskPayloadSchema, MessagePayloadSchema], {
  $id: 'SendMessageResponse',
});

/** An event of the log of a task: every stream event except a direct message, which has no task. */
export type TaskEvent = Exclude<StreamResponse, { readonly message: unknown }>;
/** The answer to a message, with the text of its task or message (`textOf`). */
export type AskResult = SendMessageResponse & { readonly text: string };
