import type { Exchange } from '../../bindings/http/exchange.js';
import { isLoopback } from '../../net/loopback.js';
import { isLocalHost, type PublicHosts } from '../../net/public-hosts.js';
import { errorAnswer } from '../json-answer.js';

const FOREIGN_HOST = errorAnswer({
  status: 421,
  message:
    'This server takes requests for hosts of its own machine only. Name the host in publicHosts (A2A_PUBLIC_HOSTS) to allow it',
});

/** The names of a server beside those of its machine, and the facts that decide whether names are checked. */
export interface KnownHostsOptions {
  readonly isPublicHost: PublicHosts | undefined;
  /** The configured base url, if there is one. */
  readonly publicUrl: string | undefined;
  /** The address that the server is bound to. */
  readonly boundHost: () => string | undefined;
  /** True if an agent takes calls without a credential. */
  readonly isOpen: () => boolean;
  /** Called with the status of each refusal. */
  readonly refused?: (status: number) => void;
}

/**
 * The exchange for the host names of this machine. On a loopback address and without authentication it refuses other
 * names with 421. A page of another origin can make its own name point to this machine (DNS rebinding). It would then
 * read every answer.
 */
export function forKnownHosts(exchange: Exchange, options: KnownHostsOptions): Exchange {
  const { isPublicHost, publicUrl, boundHost, isOpen, refused } = options;
  const own = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.host;
  const isKnown = (host: string): boolean =>
    host === own || isLocalHost(host) || isPublicHost?.(host) === true || !isOpen() || !isLoopback(boundHost() ?? '');
  /** Clients name the same host again and again. */
  let last: string | undefined;
  return (request) => {
    const host = request.header('host');
    // No browser leaves it out or empty.
    if (host !== last && host !== undefined && host !== '') {
      if (!isKnown(host)) {
        refused?.(FOREIGN_HOST.status);
        return Promise.resolve(FOREIGN_HOST);
      }
      last = host;
    }
    return exchange(request);
  };
}
