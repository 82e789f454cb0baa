import type { LogFields } from './logger.js';

/** What stands in the place of a secret. */
const REDACTED = '[redacted]';
/** Beyond this depth nobody looks. */
const DEEPEST = 8;

const SECRET_NAMES =
  /(?:authorization|cookies?|tokens?|api_?keys?|secrets?|passwords?|passwd|credentials?|private_?keys?|signatures?)$/i;
/** A credential of HTTP with its scheme, a user in a url, and a secret in a query. */
const SECRET_TEXTS =
  /\b((?:Bearer|Basic|Digest|Negotiate)\s+)[\w.~+/=-]{4,}|(:\/\/)[^\s/@:]*:[^\s/@]*@|([?&](?:access_?token|token|api_?key|key|secret|password|signature|code)=)[^\s&#"']+/gi;

/** Whether what is called so is nobody's to read: credentials by any of their usual names. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name.replaceAll('-', '_'));
}

/** A text without the credentials that can be told as such. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET_TEXTS, (_, scheme?: string, origin?: string, parameter?: string) => {
    if (origin !== undefined) return `${origin}${REDACTED}@`;
    return `${scheme ?? parameter ?? ''}${REDACTED}`;
  });
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
