import { type IpRange, isInRange, parseIp, unmapAddress } from './ip-address.js';

/** The addresses that only this machine can reach. */
export const LOOPBACK: readonly IpRange[] = [
  { address: [0x7f00, 0], bits: 8 },
  { address: [0, 0, 0, 0, 0, 0, 0, 1], bits: 128 },
];

/** True if only this machine can reach a server that listens at a host name or address. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const address = parseIp(host);
  return address !== undefined && LOOPBACK.some((range) => isInRange(unmapAddress(address), range));
}
