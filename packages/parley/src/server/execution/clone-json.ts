import type { JsonValue } from '../../model/json.js';
import { ENVELOPE_LEVELS, MAX_NESTING } from '../../model/json-fault.js';

/** The validator limits the depth of the nested values. */
const MAX_DEPTH = MAX_NESTING + ENVELOPE_LEVELS;
/** Approximate bytes of an object with a value. */
const OBJECT_BYTES = 64;
const VALUE_BYTES = 4;

/**
 * Copies a value of an agent, so that later changes by the agent do not change the log. As in JSON, `undefined` members
 * are left out, and `toJSON` is called. The validator checks the copy.
 * @throws TypeError for values without a JSON form, for cycles, and for more than `maxBytes`. Errors thrown by getters
 * or `toJSON` are not caught.
 */
export function cloneJson(value: unknown, maxBytes: number): JsonValue {
  return new Copier(maxBytes).copy(value);
}

class Copier {
  #left: number;
  /** The ancestors of the object that is being copied. */
  readonly #path: object[] = [];

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  copy(value: unknown): JsonValue {
    this.#left -= typeof value === 'string' ? value.length : typeof value === 'object' ? OBJECT_BYTES : VALUE_BYTES;
    // A value may contain the same object many times: small in memory and huge as JSON.
    if (this.#left < 0) throw new TypeError('More than a task can hold');
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object') throw new TypeError(`A ${typeof value} has no JSON form`);
    return this.#within(value);
  }

  #within(value: object): JsonValue {
    if (ArrayBuffer.isView(value)) throw new TypeError('Bytes have no JSON form but base64 text');
    if (this.#path.includes(value)) throw new TypeError('A circle has no JSON form');
    if (this.#path.length > MAX_DEPTH) throw new TypeError('Nested too deeply');
    this.#path.push(value);
    const { toJSON } = value as { readonly toJSON?: unknown };
    const copy =
      typeof toJSON === 'function'
        ? this.copy(Reflect.apply(toJSON, value, ['']))
        : Array.isArray(value)
          ? this.#list(value)
          : this.#members(value);
    this.#path.pop();
    return copy;
  }

  #list(items: readonly unknown[]): JsonValue[] {
    const copy: JsonValue[] = [];
    // By index: an agent can override the iterator of its arrays.
    for (let index = 0; index < items.length; index += 1) copy.push(this.copy(items[index]));
    return copy;
  }

  #members(value: object): Record<string, JsonValue> {
    const copy: Record<string, JsonValue> = {};
    for (const name of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[name];
      if (member === undefined) continue;
      this.#left -= name.length;
      const own = this.copy(member);
      if (name === '__proto__') Object.defineProperty(copy, name, { value: own, enumerable: true });
      else copy[name] = own;
    }
    return copy;
  }
}
