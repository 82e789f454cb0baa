import type { JsonObject, Message, SendMessageRequest } from 'parley-a2a';
import type { Client, OutgoingMessage, SendInput } from 'parley-a2a/client';
import type { FlagName } from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { type GivenPart, jsonFrom, messageParts } from './message-parts.js';

const EXCLUDED_BY_PAYLOAD: readonly FlagName[] = [
  ...(['text', 'file', 'data', 'media-type', 'context-id', 'task-id', 'metadata', 'history', 'async'] as const),
];

/** A request whose message is complete but for its id. */
type Request = Exclude<SendInput, string> & { readonly message: OutgoingMessage };

/** A request whose parts may include files that must still be read or uploaded. */
type GivenRequest = Omit<Request, 'message'> & {
  readonly message: Omit<OutgoingMessage, 'parts'> & { readonly parts: readonly GivenPart[] };
};

/** Makes the final request. Loads the code for large files on demand. */
export async function sentRequest(
  { message, ...request }: GivenRequest,
  client: Client,
  invocation: Pick<Invocation, 'output' | 'settings'>,
): Promise<Request> {
  const { parts } = message;
  if (!parts.some((part) => 'path' in part)) return { ...request, message } as Request;
  const { sentParts } = await import('./sent-parts.js');
  return { ...request, message: { ...message, parts: await sentParts(parts, client, invocation) } };
}

/**
 * Makes a request from the flags of `send`. Absent ids are set by the agent.
 * @throws CliError A2ACLI_ERR_USAGE
 */
export function sendRequest({ args: [text], given, settings }: Invocation): GivenRequest {
  const payload = settings.text('request-payload');
  if (payload !== undefined) return payloadRequest(payload, text, given);
  const parts = messageParts(text, given);
  if (parts.length === 0)
    throw usageError(
      'there is nothing to send',
      'parley send "<message>", - for standard input, or --text, --file, --data',
    );
  const taskId = settings.text('task-id');
  const contextId = settings.text('context-id');
  const historyLength = settings.count('history');
  const metadata = settings.object('metadata') as JsonObject | undefined;
  return {
    message: { parts, ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) },
    configuration: { ...(historyLength !== undefined && { historyLength }) },
    ...(metadata !== undefined && { metadata }),
  };
}

function payloadRequest(payload: string, text: string | undefined, given: Invocation['given']): Request {
  const other = given.find(({ name }) => EXCLUDED_BY_PAYLOAD.includes(name));
  if (other !== undefined || text !== undefined) {
    const named = other === undefined ? 'a message' : `--${other.name}`;
    throw usageError(`--request-payload is the whole request: ${named} has no place beside it`);
  }
  const value = jsonFrom('--request-payload', payload) as Partial<SendMessageRequest>;
  const message = value?.message as Message | undefined;
  if (typeof message !== 'object' || message === null || !Array.isArray(message.parts))
    throw usageError('--request-payload is a SendMessageRequest: {"message":{"parts":[…]}}');
  return { ...value, message };
}
