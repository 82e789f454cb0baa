import type { Fetch } from '../bindings/http/http-caller.js';
import { originOf } from '../client/credential-guard.js';

/**
 * A `fetch` that calls the origins of `trusted` at any address. Other urls come from an agent, a card or a document,
 * and go through `fetchOfFoundUrls`, whose code is loaded with the first of them.
 */
export function fetchTrusting(trusted: readonly string[]): Fetch {
  const send: Fetch = (url, init) => fetch(url, init);
  const origins = new Set(trusted.map(originOf));
  let others: Promise<Fetch> | undefined;
  /** Cache of the last trusted origin with a slash: a url with this prefix need not be parsed. */
  let beginning = ' ';
  return async (url, init) => {
    if (url.startsWith(beginning)) return send(url, init);
    if (origins.has(originOf(url))) {
      beginning = new URL('/', url).href;
      return send(url, init);
    }
    others ??= import('./found-urls.js').then(({ fetchOfFoundUrls }) => fetchOfFoundUrls(trusted, send) ?? send);
    return (await others)(url, init);
  };
}
