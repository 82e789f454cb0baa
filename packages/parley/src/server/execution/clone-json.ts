import type { JsonValue } from '../../model/json.js';

const MAX_DEPTH = 100;
/** What counts beside texts: about the memory it takes. */
const OBJECT_BYTES = 64;
const VALUE_BYTES = 4;

/**
 * A copy of what agent code handed over, so that nothing it does to its own objects afterwards changes the log. As in
 * JSON, members that are `undefined` are left out and `toJSON` is asked. The rest is not looked at: the validator judges
 * the copy.
 * @throws TypeError for what JSON cannot hold, circles and more than `maxBytes` included; and whatever the value throws itself.
 */
export function cloneJson(value: unknown, maxBytes: number): JsonValue {
  return new Copier(maxBytes).copy(value);
}

class Copier {
  #left: number;
  /** The objects that lead to the one being copied. */
  readonly #path: object[] = [];

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  copy(value: unknown): JsonValue {
    this.#left -= typeof value === 'string' ? value.length : typeof value === 'object' ? OBJECT_BYTES : VALUE_BYTES;
    // What is small in memory because its parts are the same object may be endless once it is written out.
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
    // By index: how an object goes through its own items is nothing to rely on.
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
