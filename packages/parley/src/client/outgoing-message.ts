import { OptionsError } from '../errors/options-error.js';
import { isObject, type JsonObject } from '../model/json.js';
import { kindOf } from '../model/kind-of.js';
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

const MEMBERS = ['message', 'configuration', 'metadata', 'tenant'];

/**
 * Makes the request of a send. Metadata of the call wins over that of the request.
 * @throws OptionsError for anything but a text or a request with a message.
 */
export function sendRequestOf(
  input: SendInput,
  ids: Pick<IdSource, 'random'>,
  metadata: JsonObject | undefined,
): SendMessageRequest {
  const request = typeof input === 'string' ? { message: input } : input;
  const fault = faultOf(request);
  if (fault !== undefined) throw new OptionsError('Nothing was sent', [fault]);
  const said: OutgoingMessage =
    typeof request.message === 'string' ? { parts: [{ text: request.message }] } : request.message;
  const message: Message = { ...said, messageId: said.messageId ?? ids.random(), role: said.role ?? 'ROLE_USER' };
  const own = 'metadata' in request ? request.metadata : undefined;
  const all = own === undefined ? metadata : { ...own, ...metadata };
  return { ...request, message, ...(all !== undefined && { metadata: all }) };
}

/** The fault of an input by code without types. The agent checks the parts. */
function faultOf(request: unknown): string | undefined {
  const message = isObject(request) ? request.message : undefined;
  if (typeof message !== 'string' && !(isObject(message) && Array.isArray(message.parts)))
    return `give a text, or { message } with a text or { parts }, not ${kindOf(message ?? request)}`;
  const other = Object.keys(request as object).find((name) => !MEMBERS.includes(name));
  return other === undefined ? undefined : `a request has no ${other}. Ids are members of message`;
}
