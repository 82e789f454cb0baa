import Type from 'typebox';
import { FreeObject, int32, modelObject, NonEmpty, specifiedEnum, Timestamp } from './schema.js';
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
export const GetTaskRequestSchema = modelObject('GetTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
  /** Messages of the history in the answer at most. Absent: all of them. */
  historyLength: Type.Optional(int32({ minimum: 0 })),
});

/** Filters and paging of ListTasks; filters combine with AND (Spec §3.1.4). */
export const ListTasksRequestSchema = modelObject('ListTasksRequest', {
  tenant: Type.Optional(NonEmpty),
  contextId: Type.Optional(NonEmpty),
  status: Type.Optional(specifiedEnum(TASK_STATES)),
  /** Tasks of one page, from 1 to 100. Absent: 50. */
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  /** The `nextPageToken` of the page before. */
  pageToken: Type.Optional(NonEmpty),
  /** Messages of the history of each task at most. */
  historyLength: Type.Optional(int32({ minimum: 0 })),
  /** Only tasks whose status is from this time or later. */
  statusTimestampAfter: Type.Optional(Timestamp),
  /** True: tasks have their artifacts. */
  includeArtifacts: Type.Optional(Type.Boolean()),
});

/** One page of tasks. All four members are always present (Spec §3.1.4). */
export const ListTasksResponseSchema = modelObject('ListTasksResponse', {
  tasks: Type.Array(TaskSchema),
  /** Empty on the last page. */
  nextPageToken: Type.String(),
  pageSize: int32(),
  /** The count of all tasks that fit the filters. */
  totalSize: int32(),
});

/** Spec §3.1.5. */
export const CancelTaskRequestSchema = modelObject('CancelTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
  metadata: Type.Optional(FreeObject),
});

/** Spec §3.1.6. */
export const SubscribeToTaskRequestSchema = modelObject('SubscribeToTaskRequest', {
  tenant: Type.Optional(NonEmpty),
  id: NonEmpty,
});

/** Spec §3.1.11. */
export const GetExtendedAgentCardRequestSchema = modelObject('GetExtendedAgentCardRequest', {
  tenant: Type.Optional(NonEmpty),
});
