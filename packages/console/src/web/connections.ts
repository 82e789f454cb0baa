import { fetchHere } from './launch.js';
import { MOST_SILENT, uploadingFetch } from './uploads.js';
import { WireLog } from './wire-log.js';

/** The connections to an agent. Its open streams can be cut, like by a broken network. */
export class Connections {
  /** The calls, as they were sent and answered. */
  readonly wire: WireLog;
  readonly #open = new Set<AbortController>();

  /** `secretNames`: names of headers and parameters with credentials. */
  constructor(secretNames: readonly string[]) {
    this.wire = new WireLog(secretNames);
  }

  /** The `fetch` of the browser. Event streams that it opens can be cut. */
  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cut = new AbortController();
    const { signal } = init;
    const either = signal ? AbortSignal.any([signal, cut.signal]) : cut.signal;
    const isLong = typeof init.body === 'string' && init.body.length > MOST_SILENT;
    const send = (to: string, sent: RequestInit) => fetchHere(to, sent, isLong ? uploadingFetch : undefined);
    const answer = await this.wire.record(send, url, { ...init, signal: either });
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
