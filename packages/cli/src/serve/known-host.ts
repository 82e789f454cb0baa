import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';

/** True if a host, with or without a port, is a name or an address of this machine. */
export function isLocalHost(host: string): boolean {
  const name = hostnameOf(host);
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

/** True if a `Host` header names this machine or the public url. A request without one comes from no browser. */
export function isKnownHost(host: string | undefined, publicUrl: string): boolean {
  return host === undefined || isLocalHost(host) || host === URL.parse(publicUrl)?.host;
}

/** Refuses a request that a page of another origin sends by a name of its own (DNS rebinding). */
export function refuseHost(response: ServerResponse): void {
  const message = 'This server takes requests for hosts of its own machine only. --public-url allows another one';
  response
    .writeSummary(421, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify({ error: { code: 421, message } }));
}

function hostnameOf(host: string): string {
  if (isIP(host) === 6) return host;
  const bracketed = /^\[([^\]]*)\]/.exec(host)?.[1];
  return (bracketed ?? host.split(':', 1)[0] ?? '').toLowerCase();
}
