import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { SendMessageConfiguration, SendMessageRequest } from '../model/send-message-request.js';
import type { IdSource } from '../runtime/id-source.js';

/** A message to an agent; an id is made for one without, and its role is the user's. */
export type OutgoingMessage = Omit<Message, 'messageId' | 'role'> & Partial<Pick<Message, 'messageId' | 'role'>>;

/** What to send: the request, whose message may be a mere text, or that text alone. */
export type SendInput =
  | string
  | {
      readonly message: string | OutgoingMessage;
      readonly configuration?: SendMessageConfiguration;
      readonly metadata?: JsonObject;
    };

/** The request of what is to be sent; metadata of the call goes over that of the request. */
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
