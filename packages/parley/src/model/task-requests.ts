import Type from 'typebox';
import { closed, FreeObject, int32, NonEmpty, specified, Timestamp } from './schema.js';
import { TaskSchema } from './task.js';
import { TASK_STATES } from './task-state.js';

export type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SubscribeToTaskRequest,
} from './protocol-types.generated.js';

/** Spec §3.1.3. */
export const GetTaskRequestSchema = closed('GetTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
  historyLength: Type.Optional(int32({ minimum: 0 })),
});

/** Filters and paging of ListTasks; filters combine with AND (Spec §3.1.4). */
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

/** One page of tasks. All four members are always present (Spec §3.1.4). */
export const ListTasksResponseSchema = closed('ListTasksResponse', {
  tasks: Type.Array(TaskSchema),
  nextPageToken: Type.String(),
  pageSize: int32(),
  totalSize: int32(),
});

/** Spec §3.1.5. */
export const CancelTaskRequestSchema = closed('CancelTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
  metadata: Type.Optional(FreeObject),
});

/** Spec §3.1.6. */
export const SubscribeToTaskRequestSchema = closed('SubscribeToTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
});

/** Spec §3.1.11. */
export const GetExtendedAgentCardRequestSchema = closed('GetExtendedAgentCardRequest', {
  tenant: Type.Optional(NonEmpty),
});
