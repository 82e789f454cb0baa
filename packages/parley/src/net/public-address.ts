import { type IpAddress, type IpRange, isInRange, parseRange, plainAddress } from './ip-address.js';

/** The only block of global unicast addresses of IPv6 (RFC 4291 §2.4). Other blocks are reserved. */
const GLOBAL_UNICAST: IpRange = { address: [0x2000, 0, 0, 0, 0, 0, 0, 0], bits: 3 };

/** Addresses that are not public: the registries of IANA for special purposes (RFC 6890), and multicast. */
const SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // A metadata service for every machine in Azure.
  '168.63.129.16',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Tunnels, benchmarking and ORCHIDs.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
].flatMap((range) => parseRange(range) ?? []);

/**
 * True for a public unicast address. Loopback, private, link-local, shared, reserved, multicast, tunnel and metadata
 * addresses are not public. An IPv4 address inside an IPv6 address counts as IPv4.
 */
export function isPublicAddress(address: IpAddress): boolean {
  const plain = plainAddress(address);
  const isUnicast = plain.length === 2 || isInRange(plain, GLOBAL_UNICAST);
  return isUnicast && !SPECIAL.some((range) => isInRange(plain, range));
}
