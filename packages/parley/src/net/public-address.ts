import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The only block of global unicast addresses of IPv6 (RFC 4291 §2.4). Other blocks are reserved. */
const GLOBAL_UNICAST: Range = ipaddr.parseCIDR('2000::/3');
/** Addresses of IPv4 behind a translator (RFC 6052). 64:ff9b:1::/48 is for local translators (RFC 8215). */
const TRANSLATED: Range = ipaddr.parseCIDR('64:ff9b::/96');
/** Public by its range, but a metadata service for every machine in Azure. */
const METADATA = new Set(['168.63.129.16']);

/**
 * True for a public unicast address. Loopback, private, link-local, shared, reserved, multicast, tunnel and metadata
 * addresses are not public. An IPv4 address inside an IPv6 address counts as IPv4.
 */
export function isPublicAddress(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const plain = plainAddress(address);
  if (plain.range() !== 'unicast' || METADATA.has(plain.toString())) return false;
  return plain.kind() === 'ipv4' || plain.match(GLOBAL_UNICAST);
}

/** Reads an address in its four-part or IPv6 form; undefined for anything else. */
export function parsedAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.parse(text) : undefined;
}

/** The IPv4 address that an IPv6 address stands for, or the address itself. */
export function plainAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(TRANSLATED) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}
