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

/** Two lanes of multiplications, as in cyrb53. */
class Hash {
  #left = 0xdeadbeef;
  #right = 0x41c6ce57;

  value(value: JsonValue): void {
    if (typeof value === 'string') return this.#text('s', value);
    if (typeof value !== 'object' || value === null) return this.#text('v', String(value));
    if (Array.isArray(value)) {
      this.#text('l', String(value.length));
      for (const item of value as readonly JsonValue[]) this.value(item);
      return;
    }
    const members = Object.entries(value as JsonObject)
      .filter(([, member]) => member !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1));
    this.#text('o', String(members.length));
    for (const [name, member] of members) {
      this.#text('n', name);
      this.value(member);
    }
  }

  digits(): string {
    const left = mixed(this.#left, this.#right);
    const right = mixed(this.#right, this.#left);
    return [left, right].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Hashes kind and length first, so that values with the same concatenation differ. */
  #text(kind: string, text: string): void {
    this.#characters(`${kind}${text.length}:`);
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

function mixed(lane: number, other: number): number {
  const mix = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  return mix ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}
