import Type from 'typebox';
import { MessageSchema } from './message.js';
import { TaskPushNotificationConfigSchema } from './push-notification-config.js';
import { FreeObject, int32, modelObject, NonEmpty } from './schema.js';

export type { SendMessageConfiguration, SendMessageRequest } from './protocol-types.generated.js';

/** The form of the answer that the caller asks for (Spec §3.2.2). */
export const SendMessageConfigurationSchema = modelObject('SendMessageConfiguration', {
  /** Media types that the caller can read. */
  acceptedOutputModes: Type.Optional(Type.Array(Type.String())),
  /** A webhook for the events of the task. */
  taskPushNotificationConfig: Type.Optional(TaskPushNotificationConfigSchema),
  /** Messages of the history in the answer at most. Absent: all of them. */
  historyLength: Type.Optional(int32({ minimum: 0 })),
  /** True: the answer is the new task. Otherwise the call waits until the task has ended or waits for the caller. */
  returnImmediately: Type.Optional(Type.Boolean()),
});

/** A message to an agent, for SendMessage and SendStreamingMessage (Spec §3.2.1). */
export const SendMessageRequestSchema = modelObject('SendMessageRequest', {
  tenant: Type.Optional(NonEmpty),
  message: MessageSchema,
  configuration: Type.Optional(SendMessageConfigurationSchema),
  metadata: Type.Optional(FreeObject),
});
