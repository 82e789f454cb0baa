/** The kind of a value, for errors: `a list`, `undefined`. Never shows the value, which may be a secret. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise: await it';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
