/**
 * Maximum nesting of free values. Serializing needs stack for every level, so a deeper value could be received but
 * never sent.
 */
export const MAX_NESTING = 1000;

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
  if (depth === MAX_NESTING) return `must not be nested more than ${MAX_NESTING} levels deep`;
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

/** Also true for objects of another realm: only an `Object.prototype` has the prototype null. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}
