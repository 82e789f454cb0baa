import { RefusedAddressError } from '../errors/refused-address-error.js';
import type { Clock } from '../runtime/clock.js';
import { type BodyBounds, boundedBody } from './bounded-body.js';
import type { DocumentFetch } from './bounded-fetch.js';
import { type Destination, type DestinationOptions, Destinations, destinationOf } from './destinations.js';

/** True if a connection may be opened to an address. */
export type AddressCheck = (destination: Destination, address: string) => boolean;

/**
 * Makes a `fetch` that follows no redirect. It calls the check with every address of a destination, and connects only
 * if the check allows all of them.
 */
export type CheckedConnections = (check: AddressCheck) => DocumentFetch;

/** Options of `guardedFetch`. */
export interface GuardedFetchOptions extends DestinationOptions, Partial<BodyBounds> {
  readonly clock: Clock;
  /** Absent if the host cannot check addresses. Then only addresses and names in `allow` are called. */
  readonly connections?: CheckedConnections | undefined;
  /** Sends these requests if the host cannot check addresses. */
  readonly uncheckedFetch?: DocumentFetch | undefined;
}

/** Headers that are sent to the target of a redirect on another origin. Any other header may hold a credential. */
const HARMLESS = new Set(['accept', 'accept-language', 'user-agent', 'a2a-version', 'a2a-extensions']);
const MOST_REDIRECTS = 3;
const DEFAULT_BOUNDS: BodyBounds = { bytes: 1024 * 1024, ms: 30_000 };

/**
 * Makes a `fetch` for urls that come from others: cards, webhooks, key sets. It calls public addresses only, unless
 * `allow` names others. GET and HEAD follow up to three redirects, each with the same checks. Other methods follow
 * none. Answers are limited in time (default 30 s) and bytes (default 1 MiB).
 * @throws OptionsError naming every entry of `allow` and `only` that is no destination. The `fetch` throws
 * RefusedAddressError for a destination that is not allowed, also if it is the target of a redirect.
 */
export function guardedFetch({ clock, connections, uncheckedFetch, ...options }: GuardedFetchOptions): DocumentFetch {
  const destinations = new Destinations(options);
  const send = connections?.((destination, address) => destinations.allows(destination, address));
  const bounds = { ...DEFAULT_BOUNDS, ...definedBounds(options) };

  const sendOne = async (url: URL, init: RequestInit): Promise<Response> => {
    const fault = destinations.fault(url);
    if (fault !== undefined) throw refused(url, fault);
    if (send !== undefined) return send(url.href, init);
    const destination = destinationOf(url);
    const isChecked = destinations.allows(destination, destination.host) || destinations.allowsName(destination);
    if (isChecked && uncheckedFetch !== undefined) return uncheckedFetch(url.href, init);
    throw refused(url, 'this host cannot check the address that a name leads to');
  };

  return async (address, init) => {
    const method = (init.method ?? 'GET').toUpperCase();
    const follows = (method === 'GET' || method === 'HEAD') && (init.redirect ?? 'follow') === 'follow';
    return boundedBody(bounds, { clock, signal: init.signal ?? undefined }, async (signal) => {
      let url = parsedUrl(address);
      let request: RequestInit = { ...init, method, signal, redirect: 'manual' };
      for (let redirects = 0; ; redirects++) {
        const response = await sendOne(url, request);
        const location = isRedirect(response) ? response.headers.get('location') : null;
        if (location !== null && init.redirect === 'error') throw refused(url, 'it redirects');
        if (location === null || !follows) return response;
        response.body?.cancel().catch(() => {});
        if (redirects === MOST_REDIRECTS) throw refused(url, `it redirects more than ${MOST_REDIRECTS} times`);
        const target = parsedUrl(location, url);
        if (url.protocol === 'https:' && target.protocol !== 'https:') throw refused(url, 'it redirects to plain http');
        if (target.origin !== url.origin) request = { ...request, headers: harmlessOf(request.headers) };
        url = target;
      }
    });
  };
}

function definedBounds({ bytes, ms }: Partial<BodyBounds>): Partial<BodyBounds> {
  return { ...(bytes !== undefined && { bytes }), ...(ms !== undefined && { ms }) };
}

function parsedUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new RefusedAddressError('A request is not sent: its address is no url');
  return url;
}

function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);
}

function harmlessOf(headers: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries([...new Headers(headers)].filter(([name]) => HARMLESS.has(name)));
}

/** Names the origin only: path and query may hold secrets. */
function refused(url: URL, reason: string): RefusedAddressError {
  const place = /^https?:$/.test(url.protocol) ? `${url.protocol}//${url.host}` : 'The address';
  return new RefusedAddressError(`${place} is not called: ${reason}`);
}
