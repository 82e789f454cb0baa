import type { LogFields } from './logger.js';

/** What stands in the place of a secret. */
const REDACTED = '[redacted]';
/** Beyond this depth nobody looks. */
const DEEPEST = 8;

const SECRET_NAMES =
  /(?:authorization|cookies?|tokens?|api_?keys?|secrets?|passwords?|passwd|credentials?|private_?keys?|signatures?|assertion|code_verifier|device_code)$/i;
/** Tokens that say only how a list goes on. */
const PAGE_TOKENS = /page_?tokens?$/i;
/** A credential of HTTP with its scheme, which is no challenge, a user in a url, and a secret in a query. */
const SECRET_TEXTS =
  /\b((?:Bearer|Basic|Digest|Negotiate)\s+)(?!realm=|error=|scope=)[\w.~+/=-]{4,}|(:\/\/)[^\s/@:]*:[^\s/@]*@|([?&](?:access_?token|token|api_?key|key|secret|password|signature|code)=)[^\s&#"']+/gi;

/** Whether what is called so is nobody's to read: credentials by any of their usual names. */
export function isSecretName(name: string): boolean {
  const word = name.replaceAll('-', '_');
  return SECRET_NAMES.test(word) && !PAGE_TOKENS.test(word);
}

/** A text without the credentials that can be told as such. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET_TEXTS, (_, scheme?: string, origin?: string, parameter?: string) => {
    if (origin !== undefined) return `${origin}${REDACTED}@`;
    return `${scheme ?? parameter ?? ''}${REDACTED}`;
  });
}

/** The forms of a secret on the wire: a member of JSON up to its value, and a pair of a query, a form or a cookie. */
const MEMBER = /"([\w. -]{1,64})"\s*:\s*/g;
const PAIR = /(^|[?&;\s])([\w.%+-]{1,64})=([^\s&;#"']+)/g;
/** The word before the secret in a header such as `Authorization`. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|token|api-?key) +/i;
/** Names that are those of secrets in a url only. */
const SECRET_PARAMETERS = /^(?:(?:.*[-_])?key|code|sig)$/i;

/**
 * Makes a function that shows what goes over the wire without credentials: requests, headers, bodies, events, errors.
 * It blanks out members of JSON, pairs of queries and forms by their names, credentials of HTTP by their scheme, and
 * `secrets` wherever they stand, also as they are encoded in urls, JSON and base64. `names` are secret beside the usual
 * ones, in lower case. Texts may be cut anywhere; the time grows with their length.
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

/** The spellings of a secret. Of a header such as `Bearer abc` the part behind the scheme is one as well. */
function formsOf(secret: string): readonly string[] {
  const parts = [secret, secret.replace(SCHEME, '')].filter((part) => part.trim() !== '');
  return parts.flatMap((part) => {
    const pieces = [0, 1, 2].flatMap((offset) => base64PieceOf(part, offset));
    const url = encodeURIComponent(part);
    const forUrls = pieces.map((piece) => piece.replaceAll('+', '-').replaceAll('/', '_'));
    return [part, url, formOf(url), JSON.stringify(part).slice(1, -1), base64Of(part), ...pieces, ...forUrls];
  });
}

/** As a form or a query has it: with `+` for a blank, and more characters in hex. */
function formOf(url: string): string {
  return url.replace(/[!'()~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll('%20', '+');
}

/** Shorter pieces would hide what is no secret. */
const SHORTEST_PIECE = 6;

/** The characters that a secret leaves in base64 where other bytes stand before it, such as a user in Basic. */
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

/** The end of the JSON value that begins at `start`, or of the text if it is cut. */
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

/** A copy of log fields without credentials, at any depth, in errors and what hangs on them as well. */
export function withoutSecretFields(fields: LogFields): LogFields {
  return copyOf(fields, []) as LogFields;
}

function copyOf(value: unknown, around: readonly object[]): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (around.includes(value)) return '[circular]';
  if (around.length >= DEEPEST) return '[deep]';
  const inside = [...around, value];
  if (Array.isArray(value)) return value.map((member) => copyOf(member, inside));
  if (!(value instanceof Error) && 'toJSON' in value) return value;
  // An error of the same class: those who write errors look for that.
  const copy: object = value instanceof Error ? Object.create(Object.getPrototypeOf(value) as object) : {};
  for (const name of membersOf(value)) {
    const member = (value as Record<string, unknown>)[name];
    const shown = member !== undefined && isSecretName(name) ? REDACTED : copyOf(member, inside);
    Object.defineProperty(copy, name, { value: shown, enumerable: true });
  }
  return copy;
}

/** What an error says is in members that are not enumerated. */
function membersOf(value: object): readonly string[] {
  const own = Object.keys(value);
  if (!(value instanceof Error)) return own;
  return [...new Set(['message', 'stack', 'cause', ...own])].filter((name) => name in value);
}
