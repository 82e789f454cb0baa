import type { Clock } from '../runtime/clock.js';
import { type BodyBounds, boundedBody } from './bounded-body.js';
import type { DocumentFetch } from './bounded-fetch.js';
import { type Destination, type DestinationOptions, Destinations, destinationOf } from './destinations.js';
import {
  addressRefusal,
  followsRedirects,
  harmlessHeaders,
  isRedirect,
  parsedUrl,
  redirectTarget,
} from './redirects.js';

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
  /** Absent if the host cannot check addresses. Then only addresses and names in `allow` can be called. */
  readonly connections?: CheckedConnections | undefined;
  /** Sends these requests if the host cannot check addresses. */
  readonly uncheckedFetch?: DocumentFetch | undefined;
}

const DEFAULT_BOUNDS: BodyBounds = { bytes: 1024 * 1024, ms: 30_000 };

/**
 * Makes a `fetch` for untrusted urls: of cards, webhooks, key sets. It calls public addresses only, unless `allow`
 * names others. GET and HEAD follow up to three redirects, each with the same checks. Other methods follow none.
 * Answers are limited in time (default 30 s) and bytes (default 1 MiB).
 * @throws OptionsError naming every entry of `allow` and `only` that is no destination. The `fetch` throws
 * RefusedAddressError for a destination that is not allowed, also if it is the target of a redirect.
 */
export function guardedFetch({ clock, connections, uncheckedFetch, ...options }: GuardedFetchOptions): DocumentFetch {
  const destinations = new Destinations(options);
  const send = connections?.((destination, address) => destinations.allows(destination, address));
  const bounds = { ...DEFAULT_BOUNDS, ...definedBounds(options) };

  const sendOne = async (url: URL, init: RequestInit): Promise<Response> => {
    const fault = destinations.fault(url);
    if (fault !== undefined) throw addressRefusal(url, fault);
    if (send !== undefined) return send(url.href, init);
    const destination = destinationOf(url);
    const isChecked = destinations.allows(destination, destination.host) || destinations.allowsName(destination);
    if (isChecked && uncheckedFetch !== undefined) return uncheckedFetch(url.href, init);
    throw addressRefusal(url, 'this host cannot check the address that a name leads to');
  };

  return async (address, init) => {
    const follows = followsRedirects(init);
    return boundedBody(bounds, { clock, signal: init.signal ?? undefined }, async (signal) => {
      let url = parsedUrl(address);
      let request: RequestInit = { ...init, method: (init.method ?? 'GET').toUpperCase(), signal, redirect: 'manual' };
      for (let redirects = 0; ; redirects++) {
        const response = await sendOne(url, request);
        if (init.redirect === 'error' && isRedirect(response)) throw addressRefusal(url, 'it redirects');
        const target = follows ? redirectTarget(response, url, redirects) : undefined;
        if (target === undefined) return response;
        if (target.origin !== url.origin) request = { ...request, headers: harmlessHeaders(request.headers) };
        url = target;
      }
    });
  };
}

function definedBounds({ bytes, ms }: Partial<BodyBounds>): Partial<BodyBounds> {
  return { ...(bytes !== undefined && { bytes }), ...(ms !== undefined && { ms }) };
}
