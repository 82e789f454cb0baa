const FIRST_BYTES = 4096;
/** Maximum size of a buffer that is reused for the next message. */
const KEPT_BYTES = 262_144;
/** Maximum length of a text that is written in JavaScript. Longer ones are faster in native code. */
const SHORT_TEXT = 40;

let kept: Buffer | undefined = Buffer.allocUnsafeSlow(FIRST_BYTES);

/**
 * Writes the protobuf wire format from its last byte to its first. So the length of a message is known when it is
 * written, and nothing is moved. Call the methods in the reverse order of the bytes.
 */
export class WireWriter {
  #bytes: Buffer;
  #at: number;

  constructor() {
    // Messages may be written concurrently, each with its own buffer.
    this.#bytes = kept ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
    kept = undefined;
    this.#at = this.#bytes.length;
  }

  /** The number of bytes so far. A later position minus an earlier one is the length between. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** A copy of the written bytes. Do not use the writer after it. */
  finish(): Buffer {
    const bytes = Buffer.from(this.#bytes.subarray(this.#at));
    if (this.#bytes.length <= KEPT_BYTES) kept = this.#bytes;
    return bytes;
  }

  /** An unsigned integer of at most 53 bits. */
  varint(value: number): void {
    if (value < 0x80) {
      this.#room(1);
      this.#bytes[--this.#at] = value;
      return;
    }
    this.#room(10);
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    let at = this.#at - size;
    this.#at = at;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[at++] = (rest % 0x80) | 0x80;
    this.#bytes[at] = rest;
  }

  /** A signed integer of at most 53 bits. A negative one has ten bytes. */
  integer(value: number): void {
    if (value >= 0) {
      this.varint(value);
      return;
    }
    this.#room(10);
    let at = this.#at - 10;
    this.#at = at;
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[at] = Number(rest);
  }

  double(value: number): void {
    this.#room(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** A text with its length. */
  string(text: string): void {
    const { length } = text;
    if (length > SHORT_TEXT || !this.#ascii(text)) {
      const size = length === 0 ? 0 : Buffer.byteLength(text);
      this.#room(size);
      this.#at -= size;
      this.#bytes.write(text, this.#at, size, 'utf8');
      this.varint(size);
      return;
    }
    this.varint(length);
  }

  /** The bytes of a base64 text with their length. Returns false, and writes nothing, for any other text. */
  base64(text: string): boolean {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length !== bytesIn(text)) return false;
    this.#room(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
    this.varint(bytes.length);
    return true;
  }

  /** Writes a short ASCII text without its length. Returns false, and writes nothing, for any other text. */
  #ascii(text: string): boolean {
    this.#room(SHORT_TEXT);
    const start = this.#at - text.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#bytes[start + i] = code;
    }
    this.#at = start;
    return true;
  }

  #room(size: number): void {
    if (size <= this.#at) return;
    const { length } = this;
    let capacity = this.#bytes.length * 2;
    while (capacity < length + size) capacity *= 2;
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(larger, capacity - length, this.#at);
    this.#bytes = larger;
    this.#at = capacity - length;
  }
}

/**
 * The number of bytes of a base64 text, with padding or without. Node.js skips other characters, and so decodes fewer.
 */
function bytesIn(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if (padding > 0 && text.length % 4 !== 0) return Number.NaN;
  const characters = text.length - padding;
  return characters % 4 === 1 ? Number.NaN : Math.floor((characters * 3) / 4);
}
