import type { JsonValue } from './json.js';

/** A deep copy of plain data. Leaves out members that are `undefined`, as JSON does. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: Record<string, unknown> = {};
  // `for…in` is a third faster than `Object.entries`: calls in process copy each answer.
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    const member = (value as Readonly<Record<string, JsonValue | undefined>>)[name];
    if (member === undefined) continue;
    const own: unknown = cloneJson(member);
    // An assignment to this name would change the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { ...PLAIN, value: own });
    else copy[name] = own;
  }
  return copy as T;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;
