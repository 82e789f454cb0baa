import { keptResults } from '../runtime/kept-results.js';
import { ipText, parseIp, plainAddress } from './ip-address.js';
import type { TrustedProxies } from './trusted-proxy.js';

/** The parts of a request that tell its sender's address. */
interface AddressedRequest {
  /** The address of the peer, if the host knows it. */
  readonly peer?: string | undefined;
  /** A header by its lower-case name; several lines are joined by `, `. */
  header(name: string): string | undefined;
}

/** Maximum number of hops; real chains of proxies are shorter. */
const MOST_HOPS = 32;

/**
 * The address of the client, in its canonical form. Each trusted proxy appends the address before it, so
 * `X-Forwarded-For` or `Forwarded` is read from right to left. The first address that is no trusted proxy is the
 * client. A proxy that sends neither header is the client itself.
 * `undefined` if the client is ambiguous: an unreadable hop, too many hops, or two headers with different clients. Then
 * a proxy has passed on one of them unchecked. `undefined` also if the host knows no peer, such as on a Unix socket.
 */
export function clientAddress(request: AddressedRequest, isTrustedProxy?: TrustedProxies): string | undefined {
  const { peer } = request;
  if (peer === undefined) return undefined;
  const own = canonicalAddress(peer);
  if (own === undefined || isTrustedProxy === undefined || !isTrustedProxy(own)) return own;
  const common = request.header('x-forwarded-for');
  const standard = request.header('forwarded');
  if (common === undefined && standard === undefined) return own;
  const byCommon = common === undefined ? undefined : walk({ from: own, header: common, read: hostOf, isTrustedProxy });
  if (standard === undefined) return byCommon;
  const byStandard = walk({ from: own, header: standard, read: forOf, isTrustedProxy });
  return common === undefined || byCommon === byStandard ? byStandard : undefined;
}

interface Walk {
  readonly from: string;
  readonly header: string;
  /** The address of one element of the header; `undefined` if there is none. */
  readonly read: (element: string) => string | undefined;
  readonly isTrustedProxy: TrustedProxies;
}

/** Commas inside of quotes also separate: an unclosed quote of the client must not hide the element of the proxy. */
function walk({ from, header, read, isTrustedProxy }: Walk): string | undefined {
  let address: string | undefined = from;
  let end = header.length;
  for (let hops = 0; end >= 0 && address !== undefined && isTrustedProxy(address); hops++) {
    if (hops === MOST_HOPS) return undefined;
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    address = read(header.slice(comma + 1, end).trim());
    end = comma;
  }
  return address;
}

/** RFC 7239 §4: `for=192.0.2.60;proto=http`. Undefined for an element with two clients. */
function forOf(element: string): string | undefined {
  const pairs = element.split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => /^for=/i.test(pair)).map((pair) => pair.slice(4));
  const [value = ''] = values;
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return values.length === 1 ? hostOf(isQuoted ? value.slice(1, -1) : value) : undefined;
}

/** An address with or without a port: `192.0.2.60`, `192.0.2.60:8080`, `[2001:db8::1]:8080`, `2001:db8::1`. */
function hostOf(text: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(text)?.[1];
  if (bracketed !== undefined) return bracketed.includes(':') ? canonicalAddress(bracketed) : undefined;
  const port = text.indexOf(':');
  return canonicalAddress(port > 0 && port === text.lastIndexOf(':') ? text.slice(0, port) : text);
}

/**
 * The canonical spelling of an address, without a zone id. An IPv4 address within an IPv6 address becomes IPv4: mapped
 * by a dual-stack socket, or translated by NAT64. `undefined` for a text that is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const address = parseIp(text);
  return address && ipText(plainAddress(address));
}

/** The group of a client that connects from this machine: `::1`. */
const LOOPBACK_GROUP = '0:0:0:0::/64';
/** Maximum number of cached groups. Most peers send many requests. */
const MOST_GROUPS = 1_000;

/** The group of all clients whose proxies do not send their address: they share the limits of one client. */
export const UNKNOWN_CLIENTS = 'unknown';

/** Finds the group of addresses that the client of a request belongs to; `undefined` if the host knows no address. */
export type ClientGroups = (request: AddressedRequest) => string | undefined;

/** The groups of clients behind these proxies. */
export function clientGroups(isTrustedProxy?: TrustedProxies): ClientGroups {
  const groupOfPeer = keptResults((peer) => groupOf(canonicalAddress(peer)), MOST_GROUPS);
  return (request) => {
    const { peer } = request;
    if (peer === undefined) return undefined;
    if (isTrustedProxy?.(peer) === true) return groupOf(clientAddress(request, isTrustedProxy)) ?? UNKNOWN_CLIENTS;
    return groupOfPeer(peer);
  };
}

/** True for the group of a client on this machine. */
export function isLoopbackGroup(group: string): boolean {
  return group.startsWith('127.') || group === LOOPBACK_GROUP;
}

function groupOf(address: string | undefined): string | undefined {
  return address === undefined ? undefined : addressGroup(address);
}

/**
 * The addresses that count as one client: an IPv4 address alone, or the /64 of an IPv6 address. One customer has at
 * least a /64. Expects a canonical address.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const network = parseIp(address)?.slice(0, 4) ?? [];
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}
