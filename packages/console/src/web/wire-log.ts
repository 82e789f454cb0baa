import { signal } from '@preact/signals';

/** One call over HTTP, as it was sent and answered. Secrets are left out. */
export interface WireCall {
  readonly number: number;
  /** The time at which it was sent. */
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: readonly Header[];
  readonly requestBody: WireText;
  /** Undefined: no answer yet. */
  readonly status: number | undefined;
  readonly headers: readonly Header[];
  readonly body: WireText;
  /** Milliseconds from the request to the headers of the answer, and to its end. */
  readonly headMs: number | undefined;
  readonly endMs: number | undefined;
  readonly failure: string | undefined;
}

/** A name and a value. */
export type Header = readonly [name: string, value: string];

/** The beginning of a body. */
export interface WireText {
  readonly text: string;
  /** Characters of the whole body, or bytes of an answer. */
  readonly length: number;
}

const MOST_CALLS = 200;
const MOST_TEXT = 20_000;
const REDACTED = '[redacted]';
const SECRET = /authorization|cookie|token|secret|password|api-?key/i;
const NO_TEXT: WireText = { text: '', length: 0 };

/** The latest calls of an agent, the latest first. */
export class WireLog {
  readonly calls = signal<readonly WireCall[]>([]);
  readonly #secretNames: ReadonlySet<string>;
  #number = 0;

  /** `secretNames`: names of headers and parameters with credentials, in addition to the common ones. */
  constructor(secretNames: readonly string[]) {
    this.#secretNames = new Set(secretNames.map((name) => name.toLowerCase()));
  }

  clear(): void {
    this.calls.value = [];
  }

  /** Sends a request by a function, and stores it with its answer. */
  async record(
    send: (url: string, init: RequestInit) => Promise<Response>,
    url: string,
    init: RequestInit,
  ): Promise<Response> {
    const began = performance.now();
    const since = () => Math.round(performance.now() - began);
    const number = ++this.#number;
    const { method = 'GET', body } = init;
    const call: WireCall = {
      number,
      at: Date.now(),
      method,
      url: this.#plainUrl(url),
      requestHeaders: this.#plainHeaders(new Headers(init.headers)),
      requestBody: typeof body === 'string' ? cut(body) : NO_TEXT,
      status: undefined,
      headers: [],
      body: NO_TEXT,
      headMs: undefined,
      endMs: undefined,
      failure: undefined,
    };
    this.calls.value = [call, ...this.calls.value].slice(0, MOST_CALLS);
    try {
      const answer = await send(url, init);
      const { status } = answer;
      this.#change(number, { status, headMs: since(), headers: this.#plainHeaders(answer.headers) });
      if (answer.body === null) {
        this.#change(number, { endMs: since() });
        return answer;
      }
      const watched = answer.body.pipeThrough(this.#watch(number, since));
      return new Response(watched, { status, statusText: answer.statusText, headers: answer.headers });
    } catch (error) {
      this.#change(number, { endMs: since(), failure: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  #watch(number: number, since: () => number): TransformStream<Uint8Array, Uint8Array> {
    const decoder = new TextDecoder();
    let body = NO_TEXT;
    let isChanged = false;
    const show = (): void => {
      isChanged = false;
      this.#change(number, { body });
    };
    return new TransformStream({
      transform: (chunk, controller) => {
        controller.enqueue(chunk);
        const room = MOST_TEXT - body.text.length;
        const text = room > 0 ? body.text + decoder.decode(chunk, { stream: true }).slice(0, room) : body.text;
        body = { text, length: body.length + chunk.length };
        // Throttled, so that a flood of events changes the page at most four times a second.
        if (!isChanged) setTimeout(show, SHOW_MS);
        isChanged = true;
      },
      flush: () => this.#change(number, { body, endMs: since() }),
    });
  }

  #change(number: number, change: Partial<WireCall>): void {
    const at = this.calls.value.findIndex((one) => one.number === number);
    const call = this.calls.value[at];
    if (call !== undefined) this.calls.value = this.calls.value.with(at, { ...call, ...change });
  }

  #plainUrl(text: string): string {
    const url = new URL(text, location.href);
    for (const name of [...url.searchParams.keys()]) if (this.#isSecret(name)) url.searchParams.set(name, REDACTED);
    return decodeURI(url.href);
  }

  #plainHeaders(headers: Headers): readonly Header[] {
    return [...headers].map(([name, value]) => [name, this.#isSecret(name) ? REDACTED : value]);
  }

  #isSecret(name: string): boolean {
    return SECRET.test(name) || this.#secretNames.has(name.toLowerCase());
  }
}

const SHOW_MS = 250;

function cut(text: string): WireText {
  return { text: text.slice(0, MOST_TEXT), length: text.length };
}
