import { isSecretName } from './redaction.js';

const HIDDEN = '***';
/** Urls of local storages, which have no password. */
const LOCAL = /^(?:memory|sqlite):/;
const SCHEME = /^[a-z][a-z\d+.-]*:(?:\/\/)?/i;
/** Servers with their ports, and a path. */
const SERVERS =
  /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?(?:,(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?)*(?:\/[\w.~/%-]*)?$/;
/** A path, or a word. */
const PLAIN = /^[\w./\\ -]*$/;
/** A pair of a query or of a list such as `host=… password=…`. */
const PAIR = /(?:^|[?&;#\s])([\w-]{1,64})=('[^']*'|[^&;\s]*)/g;
const SECRET_PARAMETERS = /^(?:user id|pwd|pass|sig|code|.*password|.*(?:key|token|signature|credential)(?:id)?)$/i;
/** Minimum length of a secret: shorter ones would also match harmless text. */
const SHORTEST = 4;

/**
 * Formats the url of a database or a service for display: scheme, servers and path. Credentials and queries are left
 * out, even if the text is no valid url, such as one with a `/` in its password. If the servers are ambiguous, they are
 * left out.
 */
export function printableUrl(text: string): string {
  if (LOCAL.test(text) || PLAIN.test(text) || SERVERS.test(text)) return text;
  const scheme = SCHEME.exec(text)?.[0] ?? '';
  const rest = text.slice(scheme.length);
  const at = rest.lastIndexOf('@');
  const server = rest.slice(at + 1).split(/[?#]/)[0] ?? '';
  const isPlain = scheme.endsWith('//') && SERVERS.test(server) && !/[?&][\w-]+=/.test(rest.slice(0, at + 1));
  if (!isPlain) return `${scheme.endsWith('//') ? scheme : ''}${HIDDEN}`;
  const query = rest.length > at + 1 + server.length ? `?${HIDDEN}` : '';
  return `${scheme}${at < 0 ? '' : `${HIDDEN}@`}${server}${query}`;
}

/** Returns the parts of a url, valid or not, that may be a password: raw and decoded. */
export function urlSecrets(text: string): readonly string[] {
  if (LOCAL.test(text)) return [];
  const found = [...userSecrets(text)];
  for (const [, name = '', value = ''] of text.matchAll(PAIR)) {
    if (isSecretName(name) || SECRET_PARAMETERS.test(name)) found.push(value.replace(/^'(.*)'$/s, '$1'));
  }
  const forms = found.flatMap((one) => [one, decodeText(one)]);
  return [...new Set(forms)].filter(({ length }) => length >= SHORTEST);
}

function* userSecrets(text: string): Iterable<string> {
  const start = text.includes('//') ? text.indexOf('//') + 2 : text.indexOf(':') + 1;
  const at = text.lastIndexOf('@');
  if (at < 0) {
    // A user without a server, such as `redis://:password`.
    const [, password = ''] = /\/\/[^/:]*:([^/]*)$/.exec(text) ?? [];
    if (!/^\d*$/.test(password)) yield password;
    return;
  }
  const user = text.slice(start, at);
  const colon = user.indexOf(':');
  const slash = user.search(/[/?#]/);
  // An @ after the server, such as in `https://example.com/@name`, follows no password.
  if (start > at || user.endsWith('/') || (slash >= 0 && (colon < 0 || colon > slash))) return;
  yield colon < 0 ? user : user.slice(colon + 1);
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
