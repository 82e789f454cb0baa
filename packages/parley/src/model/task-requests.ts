import Type from 'typebox';
import { closed, FreeObject, int32, NonEmpty, type Shape, specified, Timestamp } from './schema.js';
import { TaskSchema } from './task.js';
import { TASK_STATES } from './task-state.js';

export const GetTaskRequestSchema = closed('GetTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
  historyLength: Type.Optional(int32({ minimum: 0 })),
});

export const ListTasksRequestSchema = closed('ListTasksRequest', {
  tenant: Type.Optional(NonEmpty),
  contextId: Type.Optional(NonEmpty),
  status: Type.Optional(specified(TASK_STATES)),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  pageToken: Type.Optional(NonEmpty),
  historyLength: Type.Optional(int32({ minimum: 0 })),
  statusTimestampAfter: Type.Optional(Timestamp),
  includeArtifacts: Type.Optional(Type.Boolean()),
});

export const ListTasksResponseSchema = closed('ListTasksResponse', {
  tasks: Type.Array(TaskSchema),
  nextPageToken: Type.String(),
  pageSize: int32(),
  totalSize: int32(),
});

export const CancelTaskRequestSchema = closed('CancelTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
  metadata: Type.Optional(FreeObject),
});

export const SubscribeToTaskRequestSchema = closed('SubscribeToTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
});

export const GetExtendedAgentCardRequestSchema = closed('GetExtendedAgentCardRequest', {
  tenant: Type.Optional(NonEmpty),
});

/** Spec §3.1.3. */
export type GetTaskRequest = Shape<typeof GetTaskRequestSchema>;
/** Filters and paging of ListTasks; filters combine with AND (Spec §3.1.4). */
export type ListTasksRequest = Shape<typeof ListTasksRequestSchema>;
/** One page of tasks. All four members are always present (Spec §3.1.4). */
export type ListTasksResponse = Shape<typeof ListTasksResponseSchema>;
/** Spec §3.1.5. */
export type CancelTaskRequest = Shape<typeof CancelTaskRequestSchema>;
/** Spec §3.1.6. */
export type SubscribeToTaskRequest = Shape<typeof SubscribeToTaskRequestSchema>;
/** Spec §3.1.11. */
export type GetExtendedAgentCardRequest = Shape<typeof GetExtendedAgentCardRequestSchema>;
