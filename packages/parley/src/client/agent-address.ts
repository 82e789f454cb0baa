import { AgentCardError } from '../errors/agent-card-error.js';

const THIS_MACHINE = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|::1)(?=[:/?#]|$)/i;

/**
 * The URL of an address without a scheme: `http` for a host of this machine, `https` for all others.
 * @throws AgentCardError `invalid` for anything but an address.
 */
export function addressUrl(reference: unknown): URL {
  const url = typeof reference === 'string' && isAddress(reference) ? URL.parse(withScheme(reference)) : null;
  if (url !== null) return url;
  const given = typeof reference === 'string' ? JSON.stringify(reference) : typeof reference;
  throw new AgentCardError(
    'invalid',
    `Name an agent by its address, such as localhost:8080 or https://agent.example, or by its card, not by ${given}`,
  );
}

/** A word without a dot and without a port is not an address. */
function isAddress(reference: string): boolean {
  const [authority = ''] = reference.split(/[/?#]/, 1);
  return /^(?:\[[\da-f:.]+\]|\w[\w.-]*)(?::\d+)?$/i.test(authority) && /^localhost$|[.:]/i.test(authority);
}

function withScheme(address: string): string {
  return `${THIS_MACHINE.test(address) ? 'http' : 'https'}://${address}`;
}
