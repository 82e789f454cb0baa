import Type from 'typebox';
import { MessageSchema } from './message.js';
import { TaskPushNotificationConfigSchema } from './push-notification-config.js';
import { closed, FreeObject, int32, NonEmpty } from './schema.js';

export type { SendMessageConfiguration, SendMessageRequest } from './protocol-types.generated.js';

/** The form of the answer that the caller asks for (Spec §3.2.2). */
export const SendMessageConfigurationSchema = closed('SendMessageConfiguration', {
  acceptedOutputModes: Type.Optional(Type.Array(Type.String())),
  taskPushNotificationConfig: Type.Optional(TaskPushNotificationConfigSchema),
  historyLength: Type.Optional(int32({ minimum: 0 })),
  returnImmediately: Type.Optional(Type.Boolean()),
});

/** A message to an agent, for SendMessage and SendStreamingMessage (Spec §3.2.1). */
export const SendMessageRequestSchema = closed('SendMessageRequest', {
  tenant: Type.Optional(NonEmpty),
  message: MessageSchema,
  configuration: Type.Optional(SendMessageConfigurationSchema),
  metadata: Type.Optional(FreeObject),
});
