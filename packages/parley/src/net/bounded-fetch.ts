import type { Clock } from '../runtime/clock.js';

/** The part of `fetch` that small documents need. */
export type DocumentFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Limits of an answer. */
export interface FetchBounds {
  readonly bytes: number;
  readonly ms: number;
}

/** A `fetch` whose answers have a limit of size and time. The body is complete before the caller gets the answer. */
export function boundedFetch(
  request: DocumentFetch,
  { clock, bytes, ms }: FetchBounds & { readonly clock: Clock },
): (url: string, init: object) => Promise<Response> {
  return async (url, init: RequestInit) => {
    const late = new AbortController();
    const disarm = clock.after(ms, () => late.abort(new DOMException('No answer in time', 'TimeoutError')));
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
      const response = await request(url, { ...init, signal });
      const body = await wholeBody(response, bytes);
      // The body describes an OAuth error better than a challenge, which OAuth clients would read first.
      const type = response.headers.get('content-type');
      // A browser reports a redirect as status 0.
      const status = response.status < 200 ? 302 : response.status;
      return new Response(body, { status, headers: type === null ? {} : { 'content-type': type } });
    } finally {
      disarm();
    }
  };
}

async function wholeBody(response: Response, limit: number): Promise<Blob | null> {
  if (response.body === null) return null;
  const reader = response.body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return bytes === 0 ? null : new Blob(chunks);
    bytes += value.length;
    chunks.push(value);
    if (bytes > limit) {
      reader.cancel().catch(() => {});
      throw new DOMException('The answer is too long', 'QuotaExceededError');
    }
  }
}
