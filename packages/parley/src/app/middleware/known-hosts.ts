import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import { isLoopback } from '../../net/loopback.js';
import { isLocalHost, type PublicHosts } from '../../net/public-hosts.js';
import type { TrustedProxies } from '../../net/trusted-proxy.js';
import { errorAnswer } from '../json-answer.js';

const MESSAGE =
  'This server takes requests for hosts of its own machine only. Name the host in publicHosts (A2A_PUBLIC_HOSTS) to allow it';

const FOREIGN_HOST: ExchangeResponse = {
  ...errorAnswer({ status: 421, message: MESSAGE }),
  // For bindings with messages of their own.
  direct: { kind: 'error', error: new A2AError('PERMISSION_DENIED', MESSAGE) },
};

/** The names of a server beside those of its machine, and the facts that decide whether names are checked. */
export interface KnownHostsOptions {
  readonly isPublicHost: PublicHosts | undefined;
  /** The configured base url, if there is one. */
  readonly publicUrl: string | undefined;
  /** Proxies, which may name any host if no public hosts are listed. */
  readonly isTrustedProxy?: TrustedProxies | undefined;
  /**
   * The address that a server of its own is bound to; `undefined` until it listens. Absent: another program has bound
   * the address.
   */
  readonly boundHost?: (() => string | undefined) | undefined;
  /** True if an agent takes calls without a credential. */
  readonly isOpen: () => boolean;
  /** Called with the status of each refusal. */
  readonly refused?: (status: number) => void;
}

/**
 * The exchange for the host names of this machine. Without authentication it refuses other names with 421 if the
 * request may have come over a loopback address. A page of another origin can make its own name point to this machine
 * (DNS rebinding). It would then read every answer.
 */
export function forKnownHosts(exchange: Exchange, options: KnownHostsOptions): Exchange {
  const { isPublicHost, publicUrl, isTrustedProxy, boundHost, isOpen, refused } = options;
  const own = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.host;
  const isKnown = (host: string): boolean => host === own || isLocalHost(host) || isPublicHost?.(host) === true;
  const isOfProxy = ({ peer }: ExchangeRequest): boolean =>
    isPublicHost === undefined && isTrustedProxy?.(peer) === true;
  /** Clients name the same host again and again. */
  let last: string | undefined;
  return (request) => {
    const host = request.header('host');
    // No browser leaves it out or empty.
    if (host !== last && host !== undefined && host !== '') {
      if (isKnown(host)) last = host;
      else if (isOpen() && mayBeLoopback(request, boundHost) && !isOfProxy(request)) {
        refused?.(FOREIGN_HOST.status);
        return Promise.resolve(FOREIGN_HOST);
      }
    }
    return exchange(request);
  };
}

/**
 * True if a request may have come over loopback. A server with an address of its own knows. Web handlers get no address
 * from some hosts.
 */
function mayBeLoopback({ local, peer }: ExchangeRequest, boundHost: KnownHostsOptions['boundHost']): boolean {
  if (boundHost !== undefined && !isLoopback(boundHost() ?? '')) return false;
  if (local !== undefined) return isLocalHost(local.slice(local.indexOf('//') + 2));
  return peer === undefined || isLoopback(peer);
}
