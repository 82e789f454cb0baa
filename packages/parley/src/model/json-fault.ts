/**
 * The most levels of objects and arrays in a free value: `data`, `metadata` and the like. Every binding carries them
 * with the levels around them, so that a stored value can be read on each.
 */
export const MAX_NESTING = 100;

/** The maximum number of levels of a message around a free value, on any binding. */
export const ENVELOPE_LEVELS = 16;

/** The fault of a value with more than `MAX_NESTING` levels. */
export const NESTED_TOO_DEEP = `must not be nested more than ${MAX_NESTING} levels deep`;

/**
 * The reason why a value is not portable JSON, or undefined. Texts and names must be well-formed Unicode, numbers
 * finite, objects plain, and nesting bounded. The bound also refuses cycles.
 */
export function jsonFault(value: unknown, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : NOT_UNICODE;
    case 'number':
      return Number.isFinite(value) ? undefined : 'must be a finite number';
    case 'boolean':
      return undefined;
    case 'object':
      return value === null ? undefined : containerFault(value, depth);
    default:
      return 'must be JSON';
  }
}

/** The fault of a text with a lone surrogate. */
export const NOT_UNICODE = 'must be well-formed Unicode';

function containerFault(value: object, depth: number): string | undefined {
  if (depth === MAX_NESTING) return NESTED_TOO_DEEP;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = jsonFault(value[i], depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (!isPlainObject(value)) return 'must be a plain object';
  for (const name in value) {
    if (!name.isWellFormed()) return NOT_UNICODE;
    const member: unknown = (value as Record<string, unknown>)[name];
    // JSON leaves out undefined members, so they count as absent.
    if (member === undefined) continue;
    const fault = jsonFault(member, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** True if a free value has more levels of objects and arrays than `levels`. Reads no deeper than that. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value))
    if (isNestedDeeper(member, levels - 1)) return true;
  return false;
}

/** Also true for objects of another realm: only an `Object.prototype` has the prototype null. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}
