import type { Clock } from '../runtime/clock.js';
import { type BodyBounds, boundedBody } from './bounded-body.js';

/** The part of `fetch` that small documents need. */
export type DocumentFetch = (url: string, init: RequestInit) => Promise<Response>;

/** A `fetch` whose answers have a limit of size and time. The body is complete before the caller gets the answer. */
export function boundedFetch(
  request: DocumentFetch,
  { clock, bytes, ms }: BodyBounds & { readonly clock: Clock },
): (url: string, init: object) => Promise<Response> {
  return async (url, init: RequestInit) => {
    const response = await boundedBody({ bytes, ms }, { clock, signal: init.signal ?? undefined }, (signal) =>
      request(url, { ...init, signal }),
    );
    const body = await response.blob();
    // An OAuth error in the body is more precise than a challenge, which OAuth clients would read first.
    const type = response.headers.get('content-type');
    // A browser reports a redirect as status 0.
    const status = response.status < 200 ? 302 : response.status;
    return new Response(body.size === 0 ? null : body, {
      status,
      headers: type === null ? {} : { 'content-type': type },
    });
  };
}
