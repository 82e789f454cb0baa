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
  if (!isObject(request)) return `give a text or { message }, not ${kindOf(request)}`;
  const { message } = request;
  if (message === undefined) {
    const form = 'parts' in request ? '{ message: { parts } }' : "a text, or { message: 'text' }";
    return `the request has no message. Give ${form}`;
  }
  const other = Object.keys(request).find((name) => !MEMBERS.includes(name));
  if (other !== undefined) return `a request has no ${other}. Ids of a task or a context are members of message`;
  if (typeof message === 'string') return undefined;
  if (!isObject(message)) return `message must be a text or { parts: [{ text }] }, not ${kindOf(message)}`;
  return Array.isArray(message.parts) ? undefined : 'message.parts must be a list, such as [{ text }]';
}
