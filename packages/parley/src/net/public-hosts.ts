import { OptionsError } from '../errors/options-error.js';
import { isLoopback } from './loopback.js';

/**
 * Tests a host, with its port if it has one: true if the host is public. With the prefix of a path: true if both are
 * listed together.
 */
export type PublicHosts = (authority: string, prefix?: string) => boolean;

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;
const PREFIX = /^(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9._~-]+)+$/;
const LONGEST_PREFIX = 200;

/** True for a host in lower case, with or without a port. */
export function isHost(text: string): boolean {
  return HOST.test(text) && !text.endsWith(':0') && URL.canParse(`http://${text}`);
}

/** True for the path of a mount, without a slash at its end. */
export function isPrefix(text: string): boolean {
  return text.length <= LONGEST_PREFIX && PREFIX.test(text);
}

/**
 * An allow-list of hosts. An entry without a port allows any port of the host. An entry with a path allows a proxy to
 * serve the host under this prefix.
 * @throws OptionsError naming every entry that is no host.
 */
export function publicHosts(entries: readonly string[]): PublicHosts {
  const hosts = new Set<string>();
  const prefixed = new Set<string>();
  const problems: string[] = [];
  for (const entry of entries) {
    const slash = entry.includes('/') ? entry.indexOf('/') : entry.length;
    const host = entry.slice(0, slash).toLowerCase();
    const prefix = entry.slice(slash);
    if (!isHost(host) || (prefix !== '' && !isPrefix(prefix))) {
      problems.push(
        `"${entry}" is no host such as agents.example.com, agents.example.com:8443 or agents.example.com/a2a`,
      );
    }
    hosts.add(host);
    if (prefix !== '') prefixed.add(host + prefix);
  }
  if (problems.length > 0) throw new OptionsError('Public hosts', problems);
  return (authority, prefix = '') => {
    const named = prefix === '' ? hosts : prefixed;
    return named.has(authority.toLowerCase() + prefix) || named.has(hostnameOf(authority) + prefix);
  };
}

/** The host of a `Host` header in lower case, without its port. An IPv6 address keeps its brackets. */
function hostnameOf(authority: string): string {
  const end = authority.startsWith('[') ? authority.indexOf(']') + 1 : authority.lastIndexOf(':');
  return (end <= 0 ? authority : authority.slice(0, end)).toLowerCase();
}

/** True if a `Host` header names this machine in a way that DNS rebinding cannot imitate. */
export function isLocalHost(authority: string): boolean {
  const host = hostnameOf(authority);
  // Browsers resolve every name under `localhost` themselves (RFC 6761 §6.3).
  return host.endsWith('.localhost') || isLoopback(host.startsWith('[') ? host.slice(1, -1) : host);
}
