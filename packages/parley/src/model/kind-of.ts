/**
 * The kind of a value, for errors: `a list`, `undefined`, `an object with a, b`. Never shows the value, which may be a
 * secret.
 */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise: await it';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no members'}`;
}
