import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { SendMessageConfiguration, SendMessageRequest } from '../model/send-message-request.js';
import type { IdSource } from '../runtime/id-source.js';

/** A message to an agent. The client adds a missing id, and the role of the user. */
export type OutgoingMessage = Omit<Message, 'messageId' | 'role'> & Partial<Pick<Message, 'messageId' | 'role'>>;

/** The input of a send: a text, or a request whose message may be a text. */
export type SendInput =
  | string
  | {
      readonly message: string | OutgoingMessage;
      readonly configuration?: SendMessageConfiguration;
      readonly metadata?: JsonObject;
    };

/** Makes the request of a send. Metadata of the call wins over that of the request. */
export function sendRequestOf(
  input: SendInput,
  ids: Pick<IdSource, 'random'>,
  metadata: JsonObject | undefined,
): SendMessageRequest {
  const request = typeof input === 'string' ? { message: input } : input;
  const said: OutgoingMessage =
    typeof request.message === 'string' ? { parts: [{ text: request.message }] } : request.message;
  const message: Message = { ...said, messageId: said.messageId ?? ids.random(), role: said.role ?? 'ROLE_USER' };
  const own = 'metadata' in request ? request.metadata : undefined;
  const all = own === undefined ? metadata : { ...own, ...metadata };
  return { ...request, message, ...(all !== undefined && { metadata: all }) };
}
