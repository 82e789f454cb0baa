import Type from 'typebox';
import { closed, NonEmpty, type Shape } from './schema.js';

export const AuthenticationInfoSchema = closed('AuthenticationInfo', {
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

export const TaskPushNotificationConfigSchema = closed('TaskPushNotificationConfig', webhook);

export const CreateTaskPushNotificationConfigRequestSchema = closed('CreateTaskPushNotificationConfigRequest', {
  ...webhook,
  taskId: NonEmpty,
});

export const GetTaskPushNotificationConfigRequestSchema = closed('GetTaskPushNotificationConfigRequest', {
  tenant: Type.Optional(NonEmpty),
  taskId: NonEmpty,
  id: NonEmpty,
});

export const ListTaskPushNotificationConfigsRequestSchema = closed('ListTaskPushNotificationConfigsRequest', {
  tenant: Type.Optional(NonEmpty),
  taskId: NonEmpty,
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  pageToken: Type.Optional(NonEmpty),
});

export const ListTaskPushNotificationConfigsResponseSchema = closed('ListTaskPushNotificationConfigsResponse', {
  configs: Type.Array(TaskPushNotificationConfigSchema),
  nextPageToken: Type.String(),
});

export const DeleteTaskPushNotificationConfigRequestSchema = closed('DeleteTaskPushNotificationConfigRequest', {
  tenant: Type.Optional(NonEmpty),
  taskId: NonEmpty,
  id: NonEmpty,
});

/** The authentication that a webhook asks for (Spec §4.3.2). */
export type AuthenticationInfo = Shape<typeof AuthenticationInfoSchema>;
/** A webhook of one task (Spec §4.3.1). */
export type TaskPushNotificationConfig = Shape<typeof TaskPushNotificationConfigSchema>;
/** A webhook together with its task (Spec §3.1.7). */
export type CreateTaskPushNotificationConfigRequest = Shape<typeof CreateTaskPushNotificationConfigRequestSchema>;
/** Spec §3.1.8. */
export type GetTaskPushNotificationConfigRequest = Shape<typeof GetTaskPushNotificationConfigRequestSchema>;
/** Spec §3.1.9. */
export type ListTaskPushNotificationConfigsRequest = Shape<typeof ListTaskPushNotificationConfigsRequestSchema>;
/** Spec §3.1.9. */
export type ListTaskPushNotificationConfigsResponse = Shape<typeof ListTaskPushNotificationConfigsResponseSchema>;
/** Spec §3.1.10. */
export type DeleteTaskPushNotificationConfigRequest = Shape<typeof DeleteTaskPushNotificationConfigRequestSchema>;
