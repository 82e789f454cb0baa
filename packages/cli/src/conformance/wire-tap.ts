import type { Fetch } from 'parley-a2a/client';

/** A request before it goes out. */
export interface OutgoingRequest {
  readonly url: string;
  readonly init: RequestInit;
}

/** Makes another request of one. */
export type Alteration = (request: OutgoingRequest) => OutgoingRequest;

/** The answer to the last call, as it came. */
export interface LastAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The body as JSON; undefined where it is none, or a stream. */
  readonly body: unknown;
}

/**
 * Stands between a client and the network: shows what a client does not, and sends what a client would not. For one call at a time.
 */
export class WireTap {
  readonly #send: Fetch;
  #alter: Alteration | undefined;
  #answer: Response | undefined;
  /** Whether the agent closed the last stream by itself; undefined while there was none. */
  closed: boolean | undefined;

  constructor(send: Fetch = (url, init) => fetch(url, init)) {
    this.#send = send;
  }

  /** The `fetch` of the client. */
  readonly fetch: Fetch = async (url, init) => {
    const request = this.#alter?.({ url, init }) ?? { url, init };
    this.#alter = undefined;
    const response = await this.#send(request.url, request.init);
    if (!typeOf(response).startsWith('text/event-stream') || response.body === null) {
      this.#answer = response.clone();
      return response;
    }
    this.closed = false;
    const watched = response.body.pipeThrough(new TransformStream({ flush: () => this.#close() }));
    const { status, headers } = response;
    return new Response(watched, { status, headers });
  };

  /** Changes the next request. */
  alterNext(alter: Alteration): void {
    this.#alter = alter;
  }

  /** The last answer that was no stream. */
  async last(): Promise<LastAnswer> {
    const answer = this.#answer;
    if (answer === undefined) throw new Error('no call was made');
    const text = await answer.clone().text();
    return { status: answer.status, contentType: typeOf(answer), body: parsed(text) };
  }

  #close(): void {
    this.closed = true;
  }
}

function typeOf(response: Response): string {
  return response.headers.get('content-type') ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
