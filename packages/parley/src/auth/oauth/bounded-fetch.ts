import type { Clock } from '../../runtime/clock.js';
import type { TokenFetch } from './oauth-options.js';

/** Answers about tokens are small. */
const ANSWER_BYTES = 1024 * 1024;
const ANSWER_MS = 30_000;

/** A `fetch` whose answers have a size and a time, read whole before anybody looks at them. */
export function boundedFetch(request: TokenFetch, clock: Clock): (url: string, init: object) => Promise<Response> {
  return async (url, init: RequestInit) => {
    const late = new AbortController();
    const disarm = clock.after(ANSWER_MS, () => late.abort(new DOMException('No answer in time', 'TimeoutError')));
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
      const response = await request(url, { ...init, signal });
      const body = await wholeBody(response);
      // The body says what is wrong better than a challenge, which the library would look at first.
      const type = response.headers.get('content-type');
      // A browser shows a redirect as status 0.
      const status = response.status < 200 ? 302 : response.status;
      return new Response(body, { status, headers: type === null ? {} : { 'content-type': type } });
    } finally {
      disarm();
    }
  };
}

async function wholeBody(response: Response): Promise<Blob | null> {
  if (response.body === null) return null;
  const reader = response.body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return bytes === 0 ? null : new Blob(chunks);
    bytes += value.length;
    chunks.push(value);
    if (bytes > ANSWER_BYTES) {
      reader.cancel().catch(() => {});
      throw new DOMException('The answer is too long', 'QuotaExceededError');
    }
  }
}
