import type { LogFields } from './logger.js';
import { printableText } from './printable-text.js';

/** The replacement of a secret. */
const REDACTED = '[redacted]';
/** Maximum depth of values. Deeper ones are left out. */
const DEEPEST = 8;

const SECRET_NAMES =
  /(?:authorization|cookies?|tokens?|jwts?|secrets?|passwords?|passwd|passphrase|credentials?|signatures?|assertion)$/i;
const SECRET_CODES = /(?:(?:access|api|encryption|private|secret|signing)_?keys?|code_verifier|device_code)$/i;
/** Page tokens are not secret. */
const PAGE_TOKENS = /page_?tokens?$/i;
/** A credential of HTTP with its scheme (but no challenge), the user part of a url, or a secret in a query. */
const SECRET_TEXTS =
  /\b((?:Bearer|Basic|Digest|Negotiate)\s+)(?!realm=|error=|scope=)[\w.~+/=-]{4,}|(:\/\/)[^\s/?#]*@|([?&](?:access_?token|token|api_?key|key|secret|(?:ssl)?password|sig(?:nature)?|code|x-amz-(?:signature|security-token|credential))=)[^\s&#"']+/gi;

/** True if a header, member or parameter of this name contains a credential. */
export function isSecretName(name: string): boolean {
  const word = name.replaceAll('-', '_');
  return (SECRET_NAMES.test(word) || SECRET_CODES.test(word)) && !PAGE_TOKENS.test(word);
}

/** Redacts the credentials that can be recognized in a text. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET_TEXTS, (_, scheme?: string, origin?: string, parameter?: string) => {
    if (origin !== undefined) return `${origin}${REDACTED}@`;
    return `${scheme ?? parameter ?? ''}${REDACTED}`;
  });
}

/** Patterns that precede secrets: a member of JSON up to its value, and a pair of a query, a form or a cookie. */
const MEMBER = /"([\w. -]{1,64})"\s*:\s*/g;
const PAIR = /(^|[?&;\s])([\w.%+-]{1,64})=([^\s&;#"']+)/g;
/** The scheme before the secret in a header such as `Authorization`. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|token|api-?key) +/i;
/** Names that are secret only in urls. */
const SECRET_PARAMETERS = /^(?:(?:.*[-_])?key|code|sig)$/i;

/**
 * Returns a function that redacts credentials in requests, headers, bodies, events and errors. It finds members of JSON
 * and parameters by name, credentials of HTTP by scheme, and `secrets` anywhere, also encoded in urls, JSON and base64.
 * `names`: further secret names in lower case. Texts may be truncated anywhere. Its time is linear in the length.
 */
export function redactor(
  secrets: readonly string[] = [],
  names: ReadonlySet<string> = new Set(),
): (text: string) => string {
  const isSecret = (name: string) => isSecretName(name) || names.has(name.toLowerCase());
  const known = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  return (text) => {
    const unknown = known.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
    return withoutSecretMembers(withoutSecrets(unknown), isSecret).replace(
      PAIR,
      (pair, before: string, name: string) => {
        const isParameter = SECRET_PARAMETERS.test(name) && /[?&]/.test(before);
        return isParameter || isSecret(name.replace(/%20|\+/g, '_')) ? `${before}${name}=${REDACTED}` : pair;
      },
    );
  };
}

/** Returns the encodings of a secret. For a header such as `Bearer abc`, the part after the scheme is a secret too. */
function formsOf(secret: string): readonly string[] {
  const parts = [secret, secret.replace(SCHEME, '')].filter((part) => part.trim() !== '');
  return parts.flatMap((part) => {
    const pieces = [0, 1, 2].flatMap((offset) => base64PieceOf(part, offset));
    const url = encodeURIComponent(part);
    const forUrls = pieces.map((piece) => piece.replaceAll('+', '-').replaceAll('/', '_'));
    return [part, url, formOf(url), JSON.stringify(part).slice(1, -1), base64Of(part), ...pieces, ...forUrls];
  });
}

/** Converts percent-encoding to the encoding of forms: `+` for a space, and more characters in hex. */
function formOf(url: string): string {
  return url.replace(/[!'()~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll('%20', '+');
}

/** Minimum length of a piece: shorter ones would also match harmless text. */
const SHORTEST_PIECE = 6;

/**
 * Returns the characters of a secret in base64 that do not depend on the text around it. `offset`: number of bytes
 * before it, such as the user in Basic.
 */
function base64PieceOf(text: string, offset: number): readonly string[] {
  const bytes = new TextEncoder().encode(text).length;
  const encoded = base64Of(`${'\0'.repeat(offset)}${text}`);
  const piece = encoded.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes) * 4) / 3));
  return piece.length < SHORTEST_PIECE ? [] : [piece];
}

function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function withoutSecretMembers(text: string, isSecret: (name: string) => boolean): string {
  let shown = '';
  let at = 0;
  for (const { 0: member, 1: name = '', index } of text.matchAll(MEMBER)) {
    if (index < at || !isSecret(name)) continue;
    const value = index + member.length;
    shown += `${text.slice(at, value)}"${REDACTED}"`;
    at = endOfValue(text, value);
  }
  return at === 0 ? text : shown + text.slice(at);
}

/** Returns the end of the JSON value that begins at `start`, or the end of the text if it is truncated. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (depth === 0 && character !== '{' && character !== '[') return endOfWord(text, at);
    else {
      if (character === '{' || character === '[') depth += 1;
      if (character === '}' || character === ']') depth -= 1;
      at += 1;
    }
  } while (depth > 0 && at < text.length);
  return at;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at += 1;
  return at;
}

/** Copies log fields without credentials and with the escapes of `printableText`, at any depth and in errors too. */
export function withoutSecretFields(fields: LogFields): LogFields {
  return copyOf(fields, []) as LogFields;
}

function copyOf(value: unknown, around: readonly object[]): unknown {
  if (typeof value === 'string') return printableText(withoutSecrets(value));
  if (typeof value !== 'object' || value === null) return value;
  if (around.includes(value)) return '[circular]';
  if (around.length >= DEEPEST) return '[deep]';
  const inside = [...around, value];
  if (Array.isArray(value)) return value.map((member) => copyOf(member, inside));
  if (!(value instanceof Error) && 'toJSON' in value && typeof value.toJSON === 'function')
    return copyOf(value.toJSON(), inside);
  // Keeps the class of an error, because log writers check it.
  const copy: object = value instanceof Error ? Object.create(Object.getPrototypeOf(value) as object) : {};
  for (const name of membersOf(value)) {
    const member = (value as Record<string, unknown>)[name];
    const shown = member !== undefined && isSecretName(name) ? REDACTED : copyOf(member, inside);
    Object.defineProperty(copy, printableText(name), { value: shown, enumerable: true });
  }
  return copy;
}

/** Includes the members of errors, which are not enumerable. */
function membersOf(value: object): readonly string[] {
  const own = Object.keys(value);
  if (!(value instanceof Error)) return own;
  return [...new Set(['message', 'stack', 'cause', ...own])].filter((name) => name in value);
}
