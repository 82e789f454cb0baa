import { OptionsError } from '../errors/options-error.js';
import { keptResults } from '../runtime/kept-results.js';
import { type IpRange, isInRange, parseIp, parseRange, unmapAddress } from './ip-address.js';
import { LOOPBACK } from './loopback.js';

/** Tests the address of a peer: true if it is a trusted proxy, whose forwarded headers count. */
export type TrustedProxies = (peer: string | undefined) => boolean;

/** Maximum number of cached peers. Most peers send many requests. */
const MOST_PEERS = 1_000;

/**
 * Proxies by address, by CIDR range, or as `loopback`.
 * @throws OptionsError naming every entry that is none of these.
 */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  const problems: string[] = [];
  const ranges = entries.flatMap((entry) => {
    if (entry === 'loopback') return LOOPBACK;
    const range = rangeOf(entry);
    if (range === undefined)
      problems.push(`"${entry}" must be an IP address, a range such as 10.0.0.0/8, or "loopback"`);
    return range ?? [];
  });
  if (problems.length > 0) throw new OptionsError('Trusted proxies', problems);
  if (ranges.length === 0) return () => false;

  const isTrusted = keptResults((peer) => isWithin(peer, ranges), MOST_PEERS);
  return (peer) => peer !== undefined && isTrusted(peer);
}

/** A single address is normalized like a peer: an IPv4 peer of a dual-stack socket arrives as ::ffff:a.b.c.d. */
function rangeOf(entry: string): IpRange | undefined {
  const parsed = parseIp(entry);
  if (parsed === undefined) return parseRange(entry);
  const address = unmapAddress(parsed);
  return { address, bits: address.length * 16 };
}

function isWithin(peer: string, ranges: readonly IpRange[]): boolean {
  const address = parseIp(peer);
  return address !== undefined && ranges.some((range) => isInRange(unmapAddress(address), range));
}
