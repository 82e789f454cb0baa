import type { JsonValue } from './json.js';

/** A deep copy of plain data. Leaves out members that are `undefined`, as JSON does. */
export function cloneJson<T>(value: T): T {
  return (typeof value === 'object' && value !== null ? cloned(value) : value) as T;
}

function cloned(value: object): unknown {
  if (Array.isArray(value)) return value.map(cloneJson);
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const own: unknown = cloneJson(member as JsonValue);
    // An assignment to this name would change the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { ...PLAIN, value: own });
    else copy[name] = own;
  }
  return copy;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;
