import { fetchHere } from './launch.js';

/** The open answers of an agent. They can be cut as a broken network would cut them. */
export class Connections {
  readonly #open = new Set<AbortController>();

  /** The `fetch` of the browser. Event streams that it opens can be cut. */
  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cut = new AbortController();
    const { signal } = init;
    const either = signal ? AbortSignal.any([signal, cut.signal]) : cut.signal;
    const answer = await fetchHere(url, { ...init, signal: either });
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream') || answer.body === null) return answer;
    this.#open.add(cut);
    const closed = (): void => void this.#open.delete(cut);
    const body = answer.body.pipeThrough(new TransformStream({ flush: closed }), { signal: either });
    signal?.addEventListener('abort', closed, { once: true });
    return new Response(body, { status: answer.status, headers: answer.headers });
  };

  /** Cuts all open streams. Returns their number. */
  cut(): number {
    const open = [...this.#open];
    this.#open.clear();
    for (const one of open) one.abort(new TypeError('The connection was dropped'));
    return open.length;
  }
}
