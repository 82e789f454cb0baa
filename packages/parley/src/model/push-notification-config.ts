import Type from 'typebox';
import { closed, NonEmpty, type Shape } from './schema.js';

export const AuthenticationInfoSchema = closed('AuthenticationInfo', {
  scheme: NonEmpty,
  credentials: Type.Optional(Type.String()),
});

export const TaskPushNotificationConfigSchema = closed('TaskPushNotificationConfig', {
  tenant: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  taskId: Type.Optional(Type.String()),
  url: NonEmpty,
  token: Type.Optional(Type.String()),
  authentication: Type.Optional(AuthenticationInfoSchema),
});

export const GetTaskPushNotificationConfigRequestSchema = closed('GetTaskPushNotificationConfigRequest', {
  tenant: Type.Optional(Type.String()),
  taskId: NonEmpty,
  id: NonEmpty,
});

export const ListTaskPushNotificationConfigsRequestSchema = closed('ListTaskPushNotificationConfigsRequest', {
  tenant: Type.Optional(Type.String()),
  taskId: NonEmpty,
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  pageToken: Type.Optional(Type.String()),
});

export const ListTaskPushNotificationConfigsResponseSchema = closed('ListTaskPushNotificationConfigsResponse', {
  configs: Type.Array(TaskPushNotificationConfigSchema),
  nextPageToken: Type.String(),
});

export const DeleteTaskPushNotificationConfigRequestSchema = closed('DeleteTaskPushNotificationConfigRequest', {
  tenant: Type.Optional(Type.String()),
  taskId: NonEmpty,
  id: NonEmpty,
});

/** How a webhook wants to be authenticated (spec §4.3.2). */
export type AuthenticationInfo = Shape<typeof AuthenticationInfoSchema>;
/** A webhook of one task (spec §4.3.1). */
export type TaskPushNotificationConfig = Shape<typeof TaskPushNotificationConfigSchema>;
/** Spec §3.1.8. */
export type GetTaskPushNotificationConfigRequest = Shape<typeof GetTaskPushNotificationConfigRequestSchema>;
/** Spec §3.1.9. */
export type ListTaskPushNotificationConfigsRequest = Shape<typeof ListTaskPushNotificationConfigsRequestSchema>;
/** Spec §3.1.9. */
export type ListTaskPushNotificationConfigsResponse = Shape<typeof ListTaskPushNotificationConfigsResponseSchema>;
/** Spec §3.1.10. */
export type DeleteTaskPushNotificationConfigRequest = Shape<typeof DeleteTaskPushNotificationConfigRequestSchema>;
