/**
 * How deep a free value may be nested. Writing JSON takes stack for every level, so a much deeper value could be taken in
 * but never sent.
 */
export const MAX_NESTING = 1000;

/**
 * Why a value is not JSON that every peer, store and version can hold; undefined if it is. Texts and names must be
 * well-formed Unicode, numbers finite, objects plain and nesting bounded, which refuses cycles too.
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

/** What is said of a text with a lone surrogate. */
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
  if (!isPlain(value)) return 'must be a plain object';
  for (const name in value) {
    if (!name.isWellFormed()) return NOT_UNICODE;
    const member: unknown = (value as Record<string, unknown>)[name];
    // JSON leaves an undefined member out, so it is as good as absent.
    if (member === undefined) continue;
    const fault = jsonFault(member, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Objects of another realm count too: their prototype is an `Object.prototype`, which alone has none itself. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}
