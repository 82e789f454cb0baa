import Type from 'typebox';
import { modelObject, NonEmpty } from './schema.js';

export type {
  AuthenticationInfo,
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from './protocol-types.generated.js';

/** The authentication that a webhook asks for (Spec §4.3.2). */
export const AuthenticationInfoSchema = modelObject('AuthenticationInfo', {
  scheme: NonEmpty,
  credentials: Type.Optional(Type.String()),
});

const webhook = {
  tenant: Type.Optional(NonEmpty),
  id: Type.Optional(NonEmpty),
  taskId: Type.Optional(NonEmpty),
  url: NonEmpty,
  token: Type.Optional(NonEmpty),
  authentication: Type.Optional(AuthenticationInfoSchema),
};

/** A webhook of one task (Spec §4.3.1). */
export const TaskPushNotificationConfigSchema = modelObject('TaskPushNotificationConfig', webhook);

/** A webhook together with its task (Spec §3.1.7). */
export const CreateTaskPushNotificationConfigRequestSchema = modelObject('CreateTaskPushNotificationConfigRequest', {
  ...webhook,
  taskId: NonEmpty,
});

/** Spec §3.1.8. */
export const GetTaskPushNotificationConfigRequestSchema = modelObject('GetTaskPushNotificationConfigRequest', {
  tenant: Type.Optional(NonEmpty),
  taskId: NonEmpty,
  id: NonEmpty,
});

/** Spec §3.1.9. */
export const ListTaskPushNotificationConfigsRequestSchema = modelObject('ListTaskPushNotificationConfigsRequest', {
  tenant: Type.Optional(NonEmpty),
  taskId: NonEmpty,
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  pageToken: Type.Optional(NonEmpty),
});

/** Spec §3.1.9. */
export const ListTaskPushNotificationConfigsResponseSchema = modelObject('ListTaskPushNotificationConfigsResponse', {
  configs: Type.Array(TaskPushNotificationConfigSchema),
  nextPageToken: Type.String(),
});

/** Spec §3.1.10. */
export const DeleteTaskPushNotificationConfigRequestSchema = modelObject('DeleteTaskPushNotificationConfigRequest', {
  tenant: Type.Optional(NonEmpty),
  taskId: NonEmpty,
  id: NonEmpty,
});
