import type { ChatTransport } from 'ai';
import type { Client } from 'parley-a2a/client';
import { type A2AChatPlace, type A2AChatPlaces, AgentChat, recentPlaces } from './agent-chat.js';
import type { A2AChatChunk, A2AChatMessage } from './chat-chunks.js';
import { chatInput, newMessage } from './chat-message.js';

/** Settings of a transport. */
export interface A2AChatTransportOptions {
  /**
   * Stores the place of each chat. Default: the `sessionStorage` of the page, or memory. Without an entry, the context
   * of the chat is its id.
   */
  readonly places?: A2AChatPlaces;
}

/** A transport of `useChat`. */
export type A2AChatTransport = ChatTransport<A2AChatMessage>;

/** The transport for an agent, whose client is made for the first message. */
export function chatTransport(
  client: () => Promise<Client>,
  { places = pagePlaces() }: A2AChatTransportOptions,
): A2AChatTransport {
  /** The last reader of each chat. */
  const readers = new Map<string, Reader>();
  const read = (chatId: string, signal: AbortSignal | undefined): Reader => {
    const reader: Reader = new Reader(signal, () => readers.get(chatId) === reader);
    readers.set(chatId, reader);
    return reader;
  };
  const chat = async (contextId: string) => new AgentChat({ client: await client(), contextId, places, recentMs: 0 });
  return {
    resumeStreamIsReplay: true,
    async sendMessages({ chatId, messages, messageId, abortSignal }) {
      const reader = read(chatId, abortSignal);
      const input = chatInput(newMessage(messages, messageId));
      const isFirst = messages.length === 1;
      return reader.stream(await (await chat(chatId)).send(input, { ...reader.position, isFirst }));
    },
    async reconnectToStream({ chatId, abortSignal }: ReconnectOptions) {
      const reader = read(chatId, abortSignal);
      const chunks = await (await chat(chatId)).resume(reader.position);
      return chunks === undefined ? null : reader.stream(chunks);
    },
  };
}

type ReconnectOptions = Parameters<A2AChatTransport['reconnectToStream']>[0] & { readonly abortSignal?: AbortSignal };

/** A reader of one answer. It cancels the task, or only disconnects. */
class Reader {
  readonly #left = new AbortController();
  readonly #signal: AbortSignal | undefined;
  readonly #isLast: () => boolean;

  constructor(signal: AbortSignal | undefined, isLast: () => boolean) {
    this.#signal = signal;
    this.#isLast = isLast;
    if (signal?.aborted) this.#left.abort();
    signal?.addEventListener('abort', () => this.#leave(), { once: true });
  }

  get position() {
    return { signal: this.#left.signal, cancels: () => this.#signal?.aborted === true && this.#isLast() };
  }

  stream(chunks: AsyncGenerator<A2AChatChunk>): ReadableStream<A2AChatChunk> {
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          // After the reader has left, the error has no receiver.
          if (!this.#left.signal.aborted) controller.error(error);
        }
      },
      cancel: () => this.#leave(),
    });
  }

  /** A page that reconnects aborts its first reader, and makes another one at once. That must not cancel the task. */
  #leave(): void {
    queueMicrotask(() => this.#left.abort());
  }
}

const KEY = 'parley-a2a-chat:';

/** Places in the session of the page: they survive a reload. */
function pagePlaces(): A2AChatPlaces {
  const memory = recentPlaces();
  return {
    async get(key) {
      const known = await memory.get(key);
      if (known !== undefined) return known;
      try {
        return (JSON.parse(sessionStorage.getItem(KEY + key) ?? 'null') as A2AChatPlace | null) ?? undefined;
      } catch {
        return undefined;
      }
    },
    set(key, place) {
      memory.set(key, place);
      try {
        sessionStorage.setItem(KEY + key, JSON.stringify(place));
      } catch {
        // Without storage, or with a full one, the place is kept only until the page is left.
      }
    },
  };
}
