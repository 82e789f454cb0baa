import type { JsonValue } from '../../model/json.js';

const MAX_DEPTH = 100;

/**
 * A copy of what agent code handed over, so that nothing it does to its own objects afterwards changes the log.
 * Members that are `undefined` are left out, as JSON does. The rest is not looked at: the validator judges the copy.
 * @throws TypeError for what JSON cannot hold, cycles included.
 */
export function ownCopy(value: unknown, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw new TypeError(`A ${typeof value} has no JSON form`);
  if (depth > MAX_DEPTH) throw new TypeError('Nested too deeply, or in a circle');
  if (Array.isArray(value)) return value.map((item) => ownCopy(item, depth + 1));
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: ownCopy(member, depth + 1), enumerable: true });
    else copy[name] = ownCopy(member, depth + 1);
  }
  return copy;
}
