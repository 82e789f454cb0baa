import Type from 'typebox';
import { PartSchema } from './part.js';
import { ROLES } from './role.js';
import { FreeObject, modelObject, NonEmpty, specifiedEnum } from './schema.js';

export type { Message } from './protocol-types.generated.js';
export type { Role } from './role.js';

/** One message of the conversation between a client and an agent (Spec §4.1.4). */
export const MessageSchema = modelObject('Message', {
  /** Made by the author. A message that is sent again has the same one. */
  messageId: NonEmpty,
  /** The conversation. A message of a user without one begins a new conversation. */
  contextId: Type.Optional(NonEmpty),
  /** The task that the message continues. */
  taskId: Type.Optional(NonEmpty),
  role: specifiedEnum(ROLES),
  parts: Type.Array(PartSchema, { minItems: 1 }),
  metadata: Type.Optional(FreeObject),
  /** URIs of the extensions that the message uses. */
  extensions: Type.Optional(Type.Array(Type.String())),
  /** Other tasks that the message is about. */
  referenceTaskIds: Type.Optional(Type.Array(Type.String())),
});
