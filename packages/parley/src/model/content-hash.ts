import type { JsonObject, JsonValue } from './json.js';

/**
 * A 64-bit hash of a JSON value as 16 hex digits. Equal values have equal hashes in any order of members. It protects
 * against accidental collisions only, not against an attacker.
 */
export function contentHash(value: JsonValue): string {
  const hash = new Hash();
  hash.value(value);
  return hash.digits();
}

/** Two lanes of multiplications, as in cyrb53. They hold 32-bit integers, which V8 keeps without a box. */
class Hash {
  #left = 0xdeadbeef | 0;
  #right = 0x41c6ce57;

  value(value: JsonValue): void {
    if (typeof value === 'string') return this.#text('s', value);
    if (typeof value !== 'object' || value === null) return this.#text('v', String(value));
    if (Array.isArray(value)) {
      this.#text('l', String(value.length));
      for (const item of value as readonly JsonValue[]) this.value(item);
      return;
    }
    const object = value as JsonObject;
    const names = sortedNames(object);
    this.#text('o', String(names.length));
    for (const name of names) {
      this.#text('n', name);
      this.value(object[name] as JsonValue);
    }
  }

  digits(): string {
    return hexOf(mixed(this.#left, this.#right)) + hexOf(mixed(this.#right, this.#left));
  }

  /** Hashes kind and length first, so that values with the same concatenation differ. */
  #text(kind: string, text: string): void {
    this.#characters(kind);
    this.#characters(String(text.length));
    this.#characters(':');
    this.#characters(text);
  }

  #characters(text: string): void {
    let left = this.#left;
    let right = this.#right;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      left = Math.imul(left ^ code, 0x9e3779b1);
      right = Math.imul(right ^ code, 0x5f356495);
    }
    this.#left = left;
    this.#right = right;
  }
}

/** The names of all members, by their code units. */
function sortedNames(object: JsonObject): readonly string[] {
  return Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort();
}

const DIGITS = '0123456789abcdef';

/** 8 digits. `toString(16)` takes five times as long for numbers of 32 bits. */
function hexOf(lane: number): string {
  let digits = '';
  for (let shift = 28; shift >= 0; shift -= 4) digits += DIGITS[(lane >>> shift) & 15];
  return digits;
}

function mixed(lane: number, other: number): number {
  const mix = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  return mix ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}
