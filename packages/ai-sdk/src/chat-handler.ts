import type { UIMessage, UIMessageChunk } from 'ai';
import type { Client } from 'parley-a2a/client';
import {
  checkOptions,
  func,
  isObject,
  type OptionSchemas,
  optionObject,
  positive,
  sha256Hex,
  Type,
  withMethod,
} from 'parley-a2a/kit';
import { type A2AChatPlaces, AgentChat, type ChatReader, recentPlaces } from './agent-chat.js';
import type { A2AChatChunk } from './chat-chunks.js';
import { type ChatInput, chatInput, newMessage } from './chat-message.js';

/** Settings of an endpoint for chats. */
export interface A2AChatHandlerOptions {
  /**
   * Returns the user of a request. Only this user can continue a chat. Undefined: the request is answered with 401.
   * Default: anyone with the id of a chat can continue it.
   */
  user?(request: Request): string | undefined | Promise<string | undefined>;
  /**
   * Stores the place of each chat. Default: the last 500 in memory. Several server processes need a shared store, or
   * else get the last task of a chat from the agent.
   */
  readonly places?: A2AChatPlaces;
  /** Longest body of a request, in bytes, files included; 413 beyond. Default 8 MiB. */
  readonly maxBytes?: number;
  /**
   * Called with each error that the browser does not see. Returns the text that it sees instead. Default:
   * `'The agent did not answer.'`.
   */
  onError?(error: unknown): string;
}

const MAX_BYTES = 8 * 1_024 * 1_024;
const MOST_ID = 200;
/** Interval of comments between the chunks, so that proxies keep the connection open. */
const KEEP_ALIVE_MS = 15_000;
/**
 * Time in ms after the end of an answer in which a reload gets it again. The server does not know what the browser has
 * shown.
 */
const RECENT_MS = 30_000;
const UNAVAILABLE = 'The agent did not answer.';

const schemas: OptionSchemas<A2AChatHandlerOptions> = {
  user: Type.Optional(func),
  places: Type.Optional(withMethod('get')),
  maxBytes: Type.Optional(positive),
  onError: Type.Optional(func),
};

/** A request that is answered with a status and a sentence. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * Makes the endpoint for an agent, whose client is made with the first request.
 * @throws OptionsError for an unknown option: a misspelled `user` would open all chats.
 */
export function chatHandler(
  client: () => Promise<Client>,
  options: A2AChatHandlerOptions,
): (request: Request) => Promise<Response> {
  checkOptions({ subject: 'a2aChatHandler', schema: optionObject(schemas), options });
  const { user, places = recentPlaces(), maxBytes = MAX_BYTES, onError = () => UNAVAILABLE } = options;
  const chat = async (request: Request, chatId: string): Promise<AgentChat> => {
    const owner = user === undefined ? null : await user(request);
    if (owner === undefined) throw new Refusal(401, 'Sign in first.');
    const contextId = owner === null ? chatId : await sha256Hex(JSON.stringify([owner, chatId]));
    return new AgentChat({ client: await client(), contextId, places, recentMs: RECENT_MS });
  };
  const answer = async (request: Request): Promise<Response> => {
    if (request.method === 'POST') {
      const { id, input } = await inputOf(request, maxBytes);
      const left = new AbortController();
      const chunks = await (await chat(request, id)).send(input, { isFirst: false, ...readerOf(left) });
      return response(chunks, { left, onError });
    }
    if (request.method === 'GET') {
      const left = new AbortController();
      const chunks = await (await chat(request, chatIdOf(request))).resume(readerOf(left));
      return chunks === undefined ? new Response(null, { status: 204 }) : response(chunks, { left, onError });
    }
    if (request.method === 'DELETE') {
      await (await chat(request, chatIdOf(request))).cancel();
      return new Response(null, { status: 204 });
    }
    throw new Refusal(405, 'POST a chat, or GET or DELETE its stream.', { allow: 'GET, POST, DELETE' });
  };
  return async (request) => {
    try {
      return await answer(request);
    } catch (error) {
      if (error instanceof Refusal) return sentence(error.message, error);
      return sentence(onError(error), { status: 502 });
    }
  };
}

function sentence(text: string, { status, headers }: Pick<Refusal, 'status'> & Partial<Refusal>): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } });
}

/** A browser that disconnects, such as by a reload, does not cancel the task. */
function readerOf(left: AbortController): ChatReader {
  return { signal: left.signal, cancels: () => false };
}

/** The chat of `/api/chat/‹id›/stream`, which the AI SDK asks for. */
function chatIdOf({ url }: Request): string {
  const found = /\/([^/]+)\/stream$/.exec(new URL(url).pathname)?.[1];
  if (found === undefined) throw new Refusal(404, 'The path of a chat ends in /‹id›/stream.');
  try {
    return checkId(decodeURIComponent(found));
  } catch {
    throw new Refusal(400, 'The id of the chat cannot be read.');
  }
}

function checkId(id: unknown): string {
  if (typeof id !== 'string' || id === '' || id.length > MOST_ID || !id.isWellFormed())
    throw new Refusal(400, `The id of a chat is a text of at most ${MOST_ID} characters.`);
  return id;
}

/** The new content in the body of the AI SDK: `{ id, messages, messageId }`. Earlier messages are not read. */
async function inputOf(
  request: Request,
  maxBytes: number,
): Promise<{ readonly id: string; readonly input: ChatInput }> {
  // Pages of other origins can send forms and texts without permission, but no JSON.
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new Refusal(415, 'The body of a chat is application/json.');
  const body = jsonOf(await textOf(request, maxBytes));
  if (!isObject(body) || !Array.isArray(body.messages)) throw new Refusal(400, 'The body has no list of messages.');
  const id = checkId(body.id);
  const messages: readonly unknown[] = body.messages;
  if (!messages.every(isMessage)) throw new Refusal(400, 'A message has no id, or no role.');
  const messageId = typeof body.messageId === 'string' ? body.messageId : undefined;
  const { safeValidateUIMessages } = await import('ai');
  const checked = await safeValidateUIMessages({ messages: [newMessage(messages, messageId)] });
  if (!checked.success) throw new Refusal(400, 'The last message is no message of the AI SDK.');
  try {
    return { id, input: chatInput(checked.data[0]) };
  } catch (error) {
    throw new Refusal(400, (error as Error).message);
  }
}

function isMessage(value: unknown): value is Pick<UIMessage, 'id' | 'role'> {
  return isObject(value) && typeof value.id === 'string' && typeof value.role === 'string';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'The body is no JSON.');
  }
}

async function textOf({ body, headers }: Request, maxBytes: number): Promise<string> {
  const tooLong = new Refusal(413, `The body has more than ${maxBytes} bytes.`);
  if (Number(headers.get('content-length') ?? 0) > maxBytes) throw tooLong;
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  // Leaving the loop cancels the body.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLong;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The answer as an event stream. An error becomes the last chunk. */
async function response(
  chunks: AsyncGenerator<A2AChatChunk>,
  { left, onError }: { readonly left: AbortController; onError(error: unknown): string },
): Promise<Response> {
  const { createUIMessageStreamResponse } = await import('ai');
  const stream = new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (left.signal.aborted) return;
        controller.enqueue({ type: 'error', errorText: onError(error) });
        controller.close();
      }
    },
    cancel: () => left.abort(),
  });
  return createUIMessageStreamResponse({ stream, keepAliveMs: KEEP_ALIVE_MS });
}
