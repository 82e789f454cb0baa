import type { Fetch } from '../bindings/http/http-caller.js';
import { originOf } from '../client/credential-guard.js';

/**
 * A `fetch` that calls the origins of these urls, which the caller gave, wherever they lead. All others come from an
 * agent, a card or a document, and `fetchOfFoundUrls` calls them. Its code is loaded with the first of them.
 */
export function fetchTrusting(trusted: readonly string[]): Fetch {
  const send: Fetch = (url, init) => fetch(url, init);
  const origins = new Set(trusted.map(originOf));
  let others: Promise<Fetch> | undefined;
  /** The last trusted origin and a slash: a url that begins so has this origin, and need not be parsed. */
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
