import Type from 'typebox';
import { PartSchema } from './part.js';
import { ROLES } from './role.js';
import { closed, FreeObject, NonEmpty, specified } from './schema.js';

export type { Message } from './protocol-types.generated.js';
export type { Role } from './role.js';

/** One message of the conversation between a client and an agent (Spec §4.1.4). */
export const MessageSchema = closed('Message', {
  messageId: NonEmpty,
  contextId: Type.Optional(NonEmpty),
  taskId: Type.Optional(NonEmpty),
  role: specified(ROLES),
  parts: Type.Array(PartSchema, { minItems: 1 }),
  metadata: Type.Optional(FreeObject),
  extensions: Type.Optional(Type.Array(Type.String())),
  referenceTaskIds: Type.Optional(Type.Array(Type.String())),
});
