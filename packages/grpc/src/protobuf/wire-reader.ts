/** Bytes that are not a message in the protobuf wire format. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** A message with more objects and items than allowed. */
export class TooManyItems extends MalformedMessage {}

/** The wire types of the format, without the groups. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

/** The number of a field with its wire type. */
export function tagOf(number: number, wireType: number): number {
  return (number << 3) | wireType;
}

/** Maximum nesting of unknown groups. */
const MAX_GROUPS = 100;
const REPLACED = '\uFFFD';
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the protobuf wire format. `end` bounds the current message: no value reaches beyond it. Every method throws
 * `MalformedMessage`.
 */
export class WireReader {
  readonly #bytes: Buffer;
  readonly #mostItems: number;
  #at = 0;
  #end: number;
  #items = 0;
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array, mostItems = Number.POSITIVE_INFINITY) {
    this.#mostItems = mostItems;
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** The next tag of the current message; 0 at its end. */
  tag(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#uint32();
    if (tag >>> 3 === 0) throw new MalformedMessage('a field has the number 0');
    return tag;
  }

  /** Enters the nested message that follows, and returns the previous bound for `leave`. */
  enter(): number {
    const outer = this.#end;
    const length = this.#length();
    this.#end = this.#at + length;
    return outer;
  }

  /** Skips to the end of a nested message, and restores the bound of the outer one. */
  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  /** Counts a field or an item, also a repeated one. An empty one has two bytes. */
  count(): void {
    this.#items++;
    if (this.#items > this.#mostItems) throw new TooManyItems(`it has more than ${this.#mostItems} items`);
  }

  bool(): boolean {
    this.#varint();
    return (this.#low | this.#high) !== 0;
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** A 64-bit integer. Beyond 2^53 it loses precision. */
  int64(): number {
    this.#varint();
    return (this.#high | 0) * 0x1_0000_0000 + (this.#low >>> 0);
  }

  double(): number {
    const at = this.#take(8);
    return this.#bytes.readDoubleLE(at);
  }

  string(): string {
    const length = this.#length();
    if (length === 0) return '';
    const at = this.#take(length);
    const text = this.#bytes.toString('utf8', at, at + length);
    return text.includes(REPLACED) ? this.#strict(at, length) : text;
  }

  /** Bytes as standard base64 with padding. */
  base64(): string {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.toString('base64', at, at + length);
  }

  /** Skips the value of a tag. Groups are skipped without recursion. */
  skip(tag: number): void {
    const groups: number[] = [];
    for (let next = tag; ; next = this.tag()) {
      switch (next & 7) {
        case VARINT:
          this.#varint();
          break;
        case FIXED64:
          this.#take(8);
          break;
        case LENGTH_DELIMITED:
          this.#take(this.#length());
          break;
        case START_GROUP:
          if (groups.push(next >>> 3) > MAX_GROUPS) throw new MalformedMessage('groups are nested too deeply');
          break;
        case END_GROUP:
          if (groups.pop() !== next >>> 3) throw new MalformedMessage('a group ends that did not begin');
          break;
        case FIXED32:
          this.#take(4);
          break;
        default:
          throw new MalformedMessage('a field has an unknown wire type');
      }
      if (groups.length === 0) return;
      if (this.#at >= this.#end) throw new MalformedMessage('a group has no end');
    }
  }

  #strict(at: number, length: number): string {
    try {
      return strictUtf8.decode(this.#bytes.subarray(at, at + length));
    } catch {
      throw new MalformedMessage('a text is not UTF-8');
    }
  }

  #length(): number {
    const length = this.#uint32();
    if (length > this.#end - this.#at) throw new MalformedMessage('it is truncated');
    return length;
  }

  #take(count: number): number {
    const at = this.#at;
    if (count > this.#end - at) throw new MalformedMessage('it is truncated');
    this.#at = at + count;
    return at;
  }

  #uint32(): number {
    const first = this.#bytes[this.#at] ?? 0;
    if (first < 0x80 && this.#at < this.#end) {
      this.#at++;
      return first;
    }
    this.#varint();
    if (this.#high !== 0) throw new MalformedMessage('a number is too large');
    return this.#low >>> 0;
  }

  /** Reads up to 64 bits into two words. */
  #varint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw new MalformedMessage('it is truncated');
      const byte = this.#bytes[this.#at++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw new MalformedMessage('a number is too long');
  }
}
