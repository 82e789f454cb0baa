import { OptionsError } from '../errors/options-error.js';
import { isLoopback } from './loopback.js';

/** Tests a host, with its port if it has one: true if the host is public. */
export type PublicHosts = (authority: string) => boolean;

const ENTRY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * An allow-list of hosts. An entry without a port allows any port of the host.
 * @throws OptionsError naming every entry that is no host.
 */
export function publicHosts(entries: readonly string[]): PublicHosts {
  const hosts = new Set(entries.map((entry) => entry.toLowerCase()));
  const wrong = [...hosts].filter((host) => !ENTRY.test(host));
  if (wrong.length > 0) {
    const problems = wrong.map(
      (entry) => `"${entry}" is no host such as agents.example.com or agents.example.com:8443`,
    );
    throw new OptionsError('Public hosts', problems);
  }
  return (authority) => hosts.has(authority.toLowerCase()) || hosts.has(hostnameOf(authority));
}

/** The host of a `Host` header in lower case, without its port. An IPv6 address keeps its brackets. */
export function hostnameOf(authority: string): string {
  const end = authority.startsWith('[') ? authority.indexOf(']') + 1 : authority.lastIndexOf(':');
  return (end <= 0 ? authority : authority.slice(0, end)).toLowerCase();
}

/** True if a `Host` header names this machine in a way that DNS rebinding cannot imitate. */
export function isLocalHost(authority: string): boolean {
  const host = hostnameOf(authority);
  // Browsers resolve every name under `localhost` themselves (RFC 6761 §6.3).
  return host.endsWith('.localhost') || isLoopback(host.startsWith('[') ? host.slice(1, -1) : host);
}
