import ipaddr from 'ipaddr.js';
import { OptionsError } from '../errors/options-error.js';

/** Tests the address of a peer: true if it is a trusted proxy, whose forwarded headers count. */
export type TrustedProxies = (peer: string | undefined) => boolean;

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/**
 * Proxies by address, by CIDR range, or as `loopback`.
 * @throws OptionsError naming every entry that is none of these.
 */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  const ranges: Range[] = [];
  const problems: string[] = [];
  for (const entry of entries.flatMap((entry) => (entry === 'loopback' ? LOOPBACK : [entry]))) {
    const range = rangeOf(entry);
    if (range === undefined)
      problems.push(`"${entry}" must be an IP address, a range such as 10.0.0.0/8, or "loopback"`);
    else ranges.push(range);
  }
  if (problems.length > 0) throw new OptionsError('Trusted proxies', problems);
  if (ranges.length === 0) return () => false;

  const known = new Map<string, boolean>();
  return (peer) => {
    if (peer === undefined) return false;
    const before = known.get(peer);
    if (before !== undefined) return before;
    const trusted = isWithin(peer, ranges);
    if (known.size >= 1000) known.clear();
    known.set(peer, trusted);
    return trusted;
  };
}

function rangeOf(entry: string): Range | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!isAddress(entry)) return undefined;
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isWithin(peer: string, ranges: readonly Range[]): boolean {
  if (!isAddress(peer)) return false;
  // An IPv4 peer of a dual-stack socket arrives as ::ffff:a.b.c.d.
  const address = ipaddr.process(peer);
  return ranges.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}

/** Accepts only the four-part form. `1` or `0x7f000001` is a mistake here. */
function isAddress(text: string): boolean {
  return ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text);
}
