import type { ExchangeRequest } from '../bindings/http/exchange.js';
import { isHost, isPrefix, type PublicHosts } from '../net/public-hosts.js';
import type { TrustedProxies } from '../net/trusted-proxy.js';
import { keptResults } from '../runtime/kept-results.js';
import type { Forwarding } from './middleware/forwarded-caching.js';

/** The rule for the base url that a server tells its clients. */
export interface BaseUrlRule {
  /** Set by the operator, a mount path included; nothing else counts then. */
  readonly publicUrl?: string | undefined;
  /** The proxies whose forwarded headers the server believes. */
  readonly isTrustedProxy?: TrustedProxies | undefined;
  /** The hosts and prefixes that forwarded headers may name; absent: any of them. */
  readonly isPublicHost?: PublicHosts | undefined;
  /** The bound address. Absent before the server listens, and behind a host that has bound its own address. */
  bound?: BoundBase | undefined;
}

/** The address of a listening server. */
export interface BoundBase {
  readonly url: string;
  /**
   * True if bound to all addresses of the machine. Then clients are told the address at which their request arrived.
   */
  readonly wildcard: boolean;
}

/**
 * The origin (and prefix) to build public addresses on, without a trailing slash; "" while nothing is known. In this
 * order: the configured url as it is, the forwarded headers of a trusted proxy, the address really bound. The latter
 * two are followed by the path under which a host has mounted what is served. A Host header is never believed.
 */
export function baseUrlOf(rule: BaseUrlRule): (request?: ExchangeRequest) => string {
  const { publicUrl, isTrustedProxy, isPublicHost } = rule;
  if (publicUrl !== undefined) {
    const fixed = publicUrl.replace(/(?<!\/)\/+$/, '');
    return () => fixed;
  }
  return (request) => {
    const mount = request?.mount ?? '';
    if (request !== undefined && isTrustedProxy?.(request.peer)) {
      const forwarded = forwardedBase(request, isPublicHost);
      if (forwarded !== undefined) return forwarded + mount;
    }
    const { bound } = rule;
    const base = bound === undefined || bound.wildcard ? (request?.local ?? bound?.url) : bound.url;
    return base === undefined ? '' : base + mount;
  };
}

/** The part of a rule that concerns proxies; `undefined` if it has none. */
export function forwardingOf({ publicUrl, isTrustedProxy, isPublicHost }: BaseUrlRule): Forwarding | undefined {
  if (publicUrl !== undefined || isTrustedProxy === undefined) return undefined;
  return { listed: isPublicHost !== undefined };
}

/** A server has few base urls: more than this many come from forged forwarded headers. A document may have 200 kB. */
const MOST_BASES = 20;

/** Caches what depends on a base url. It forgets all values when there are too many base urls. */
export function keptByBase<Value>(make: (base: string) => Value): (base: string) => Value {
  return keptResults(make, MOST_BASES);
}

/** RFC 7239 defines four parameters; more of them are for extensions. */
const MOST_PAIRS = 20;

interface Forwarded {
  readonly host: string;
  readonly proto: string;
}

/** If two headers contradict each other, the proxy has passed one on from the client. Then neither counts. */
function forwardedBase(request: ExchangeRequest, isPublicHost: PublicHosts | undefined): string | undefined {
  const standard = readForwarded(request.header('forwarded'));
  const common = readCommon(request);
  if (standard && common && (standard.host !== common.host || standard.proto !== common.proto)) return undefined;
  const forwarded = common ?? standard;
  if (forwarded === undefined || !isHost(forwarded.host)) return undefined;
  const { host, proto } = forwarded;
  if (isPublicHost?.(host) === false) return undefined;
  if (proto !== 'http' && proto !== 'https') return undefined;
  const prefix = last(request.header('x-forwarded-prefix'))?.replace(/\/$/, '') ?? '';
  return `${proto}://${host}${isPrefix(prefix) && isPublicHost?.(host, prefix) !== false ? prefix : ''}`;
}

function readCommon(request: ExchangeRequest): Forwarded | undefined {
  const host = last(request.header('x-forwarded-host'));
  if (host === undefined) return undefined;
  return { host: host.toLowerCase(), proto: (last(request.header('x-forwarded-proto')) ?? 'http').toLowerCase() };
}

/** RFC 7239: `for=…;proto=https;host=example.com, …`. */
function readForwarded(header: string | undefined): Forwarded | undefined {
  let host: string | undefined;
  let proto = 'http';
  for (const pair of (last(header) ?? '').split(';', MOST_PAIRS)) {
    const [name = '', ...rest] = pair.split('=');
    const value = rest
      .join('=')
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase();
    if (name.trim().toLowerCase() === 'host') host = value;
    if (name.trim().toLowerCase() === 'proto') proto = value;
  }
  return host === undefined ? undefined : { host, proto };
}

/** Each proxy appends to the header, so the trusted proxy wrote the last entry. */
function last(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const value = header.slice(header.lastIndexOf(',') + 1).trim();
  return value === '' ? undefined : value;
}
