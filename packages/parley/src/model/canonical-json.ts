import type { JsonValue } from './json.js';

/** Maximum nesting. Useful documents have fewer levels, and recursion to this depth does not overflow the stack. */
const DEEPEST = 200;

/**
 * The canonical JSON text of a value (RFC 8785). Members are in the order of the UTF-16 code units of their names.
 * There are no blanks. Strings and numbers are written as in ECMAScript. Equal values have equal texts.
 * Members that are `undefined` are left out, as in JSON.
 * @throws RangeError for lone surrogates, numbers beyond a double, and more than 200 levels.
 */
export function canonicalJson(value: JsonValue): string {
  return textOf(value, 0);
}

function textOf(value: JsonValue, depth: number): string {
  if (depth > DEEPEST) throw new RangeError(`it is nested more than ${DEEPEST} levels deep`);
  if (typeof value === 'string' && !value.isWellFormed())
    throw new RangeError('it has a text that is not well-formed Unicode');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('it has a number that is too large');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => textOf(item, depth + 1)).join(',')}]`;
  const given = Object.entries(value as Readonly<Record<string, JsonValue | undefined>>);
  const present = given.filter((member): member is [string, JsonValue] => member[1] !== undefined);
  const members = present.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, item]) => `${textOf(name, 0)}:${textOf(item, depth + 1)}`).join(',')}}`;
}
