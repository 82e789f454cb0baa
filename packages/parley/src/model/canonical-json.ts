import type { JsonObject, JsonValue } from './json.js';

/** Deeper than any document that means something, and far from the end of the stack. */
const DEEPEST = 200;

/**
 * The one text of a JSON value (RFC 8785): members in the order of their names' UTF-16 code units, no blanks, strings and numbers as
 * ECMAScript writes them. Equal values give equal texts, whatever the order and spelling they arrived in.
 * @throws RangeError for what has no such text: lone surrogates, numbers beyond a double, more than 200 levels.
 */
export function canonicalJson(value: JsonValue): string {
  return textOf(value, 0);
}

function textOf(value: JsonValue, depth: number): string {
  if (depth > DEEPEST) throw new RangeError(`it is nested more than ${DEEPEST} levels deep`);
  if (typeof value === 'string' && !value.isWellFormed()) throw new RangeError('it holds a text that is no Unicode');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('it holds a number that is too large');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => textOf(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, item]) => `${textOf(name, 0)}:${textOf(item, depth + 1)}`).join(',')}}`;
}
