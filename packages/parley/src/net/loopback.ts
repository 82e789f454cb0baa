import ipaddr from 'ipaddr.js';

/** True if only this machine can reach a server that listens at a host name or address. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
