import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { usageError } from '../failure/cli-error.js';

/** A parsed reference to a card. */
interface CardReference {
  /** An `http:`, `https:` or `file:` URL. */
  readonly url: URL;
  /** Identifier of a catalog entry, if the reference has one. */
  readonly entry: string | undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|::1)(?=[:/]|$)/i;

/**
 * Parses a reference: a host or origin, a full URL, a `file://` URL or a path. `#…` selects an entry of a catalog.
 * Without a scheme, hosts of this machine use http and all others https. A path must begin with `./`, `../` or `/`, so
 * that a file in the working directory cannot take the place of a host.
 * @throws CliError A2ACLI_ERR_USAGE
 */
export function parseCardReference(reference: string): CardReference {
  if (reference.trim() === '') throw usageError('the reference of the agent is empty');
  const [address = '', ...rest] = reference.split('#');
  const entry = rest.length === 0 ? undefined : decodeText(rest.join('#'));
  return { url: urlOf(address, reference), entry };
}

/** True if a reference that is parsed as a host is also the name of a file. */
export function namesFile(reference: string): boolean {
  return existsSync(reference) && !/^[a-z][a-z0-9+.-]*:/i.test(reference);
}

function urlOf(address: string, reference: string): URL {
  if (/^(?:https?|file):\/\//i.test(address)) return parseUrl(address, reference);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) throw usageError(`"${reference}" is neither http, https nor file`);
  if (/^\.{0,2}[/\\]|^[a-z]:[/\\]/i.test(address)) return pathToFileURL(address);
  return parseUrl(`${LOOPBACK.test(address) ? 'http' : 'https'}://${address}`, reference);
}

function parseUrl(url: string, reference: string): URL {
  const found = URL.parse(url);
  if (found === null)
    throw usageError(
      `"${reference}" is no host, URL or path`,
      existsSync(reference) ? `a path begins with ./ or /` : undefined,
    );
  return found;
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
