import Type from 'typebox';
import { PartSchema } from './part.js';
import { closed, FreeObject, NonEmpty, type Shape } from './schema.js';

/** Who made a message; the position is the protobuf number (spec §4.1.5). */
export const ROLES = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'] as const;
export type Role = (typeof ROLES)[number];

export const MessageSchema = closed('Message', {
  messageId: NonEmpty,
  contextId: Type.Optional(Type.String()),
  taskId: Type.Optional(Type.String()),
  role: Type.Enum([...ROLES]),
  parts: Type.Array(PartSchema, { minItems: 1 }),
  metadata: Type.Optional(FreeObject),
  extensions: Type.Optional(Type.Array(Type.String())),
  referenceTaskIds: Type.Optional(Type.Array(Type.String())),
});

/** One turn of the conversation between a client and an agent (spec §4.1.4). */
export type Message = Shape<typeof MessageSchema>;
