import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import { LinkedList } from '../../runtime/linked-list.js';

/** The open streams of an exchange. A host without a server of its own ends them here. */
export class OpenStreams {
  readonly #open = new LinkedList<TrackedStream>();
  #ended = false;

  /** The same exchange. Its streams are known here while they are open. */
  track(exchange: Exchange): Exchange {
    return async (request) => this.#tracked(await exchange(request));
  }

  /** Ends every stream between two events, also those that begin only now. */
  end(): void {
    this.#ended = true;
    for (const stream of this.#open.values()) void stream.return();
  }

  #tracked(answer: ExchangeResponse): ExchangeResponse {
    const { body } = answer;
    if (typeof body !== 'object' || !(Symbol.asyncIterator in body)) return answer;
    const stream = new TrackedStream(body[Symbol.asyncIterator](), () => this.#open.remove(place));
    const place = this.#open.add(stream);
    if (this.#ended) void stream.return();
    return { ...answer, body: stream };
  }
}

class TrackedStream implements AsyncIterableIterator<string> {
  readonly #frames: AsyncIterator<string>;
  readonly #closed: () => void;

  constructor(frames: AsyncIterator<string>, closed: () => void) {
    this.#frames = frames;
    this.#closed = closed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    const result = await this.#frames.next();
    if (result.done === true) this.#closed();
    return result;
  }

  async return(): Promise<IteratorResult<string>> {
    this.#closed();
    return (await this.#frames.return?.()) ?? { done: true, value: undefined };
  }
}
