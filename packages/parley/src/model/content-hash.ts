import type { JsonObject, JsonValue } from './json.js';

/**
 * A 64-bit hash of a JSON value as 16 hex digits. Equal values have equal hashes in any order of members. It protects
 * against accidental collisions only, not against an attacker.
 */
export function contentHash(value: JsonValue): string {
  const hash = new Hash();
  hash.value(value);
  return hexOf(hash.left, hash.right);
}

/** Tags that are hashed before each value, so that values of two kinds have different hashes. */
const TEXT = 1;
const LITERAL = 2;
const LIST = 3;
const OBJECT = 4;
const NAME = 5;

const LEFT_START = 0xdeadbeef | 0;
const RIGHT_START = 0x41c6ce57;
const LEFT_FACTOR = 0x9e3779b1;
const RIGHT_FACTOR = 0x5f356495;

const BLOCK = 4096;
const ENCODER = new TextEncoder();
/** Buffer for one block of ASCII text. Other text needs more bytes than it has, and is hashed by characters. */
const ASCII = new Uint8Array(BLOCK);

/** Two 32-bit lanes of multiplications, as in cyrb53. V8 keeps 32-bit integers unboxed. */
class Hash {
  #left = LEFT_START;
  #right = RIGHT_START;

  get left(): number {
    return mixLanes(this.#left, this.#right);
  }

  get right(): number {
    return mixLanes(this.#right, this.#left);
  }

  value(value: JsonValue): void {
    if (typeof value === 'string') return this.#text(TEXT, value);
    if (typeof value !== 'object' || value === null) return this.#text(LITERAL, String(value));
    if (!Array.isArray(value)) return this.#object(value as JsonObject);
    this.#number(LIST);
    this.#number(value.length);
    for (const item of value as readonly JsonValue[]) this.value(item);
  }

  /** Adds up the hashes of the members: their order does not count, and nothing needs to be sorted. */
  #object(object: JsonObject): void {
    const left = this.#left;
    const right = this.#right;
    let count = 0;
    let leftSum = 0;
    let rightSum = 0;
    for (const name in object) {
      const value = object[name];
      if (value === undefined) continue;
      this.#left = LEFT_START;
      this.#right = RIGHT_START;
      this.#text(NAME, name);
      this.value(value);
      count += 1;
      leftSum = (leftSum + this.left) | 0;
      rightSum = (rightSum + this.right) | 0;
    }
    this.#left = left;
    this.#right = right;
    this.#number(OBJECT);
    this.#number(count);
    this.#number(leftSum);
    this.#number(rightSum);
  }

  /** Hashes kind and length first, so that values with the same concatenation differ. */
  #text(kind: number, text: string): void {
    this.#number(kind);
    this.#number(text.length);
    if (text.length < BLOCK) return this.#characters(text);
    for (let at = 0; at < text.length; at += BLOCK) this.#block(text.slice(at, at + BLOCK));
  }

  /** Bytes in an array take half of the time of characters of a string. */
  #block(text: string): void {
    const { read, written } = ENCODER.encodeInto(text, ASCII);
    if (read !== text.length || written !== read) return this.#characters(text);
    let left = this.#left;
    let right = this.#right;
    for (let at = 0; at < written; at += 1) {
      const code = ASCII[at] ?? 0;
      left = Math.imul(left ^ code, LEFT_FACTOR);
      right = Math.imul(right ^ code, RIGHT_FACTOR);
    }
    this.#left = left;
    this.#right = right;
  }

  #characters(text: string): void {
    let left = this.#left;
    let right = this.#right;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      left = Math.imul(left ^ code, LEFT_FACTOR);
      right = Math.imul(right ^ code, RIGHT_FACTOR);
    }
    this.#left = left;
    this.#right = right;
  }

  #number(number: number): void {
    this.#left = Math.imul(this.#left ^ number, LEFT_FACTOR);
    this.#right = Math.imul(this.#right ^ number, RIGHT_FACTOR);
  }
}

const DIGITS = '0123456789abcdef';

function mixLanes(lane: number, other: number): number {
  const mix = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  return mix ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}

/** 8 digits of each. `toString(16)` takes five times as long for numbers of 32 bits. */
function hexOf(a: number, b: number): string {
  // biome-ignore format: the digits of a, then those of b
  return String.fromCharCode(
    digit(a, 28), digit(a, 24), digit(a, 20), digit(a, 16), digit(a, 12), digit(a, 8), digit(a, 4), digit(a, 0),
    digit(b, 28), digit(b, 24), digit(b, 20), digit(b, 16), digit(b, 12), digit(b, 8), digit(b, 4), digit(b, 0),
  );
}

function digit(lane: number, shift: number): number {
  return DIGITS.charCodeAt((lane >>> shift) & 15);
}
