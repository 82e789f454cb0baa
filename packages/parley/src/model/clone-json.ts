import type { JsonValue } from './json.js';

/** A deep copy of plain data. Members that are `undefined` are left out, as JSON leaves them out. */
export function cloneJson<T>(value: T): T {
  return (typeof value === 'object' && value !== null ? cloned(value) : value) as T;
}

function cloned(value: object): unknown {
  if (Array.isArray(value)) return value.map(cloneJson);
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const own: unknown = cloneJson(member as JsonValue);
    // Assigned, a member of this name would change the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { ...PLAIN, value: own });
    else copy[name] = own;
  }
  return copy;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;
