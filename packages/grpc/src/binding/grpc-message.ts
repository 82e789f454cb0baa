/** Bytes before each message: a flag for compression, and the length. */
const PREFIX_BYTES = 5;

/** Encodes messages for the wire: each with its prefix before its bytes. */
export function frameMessages(messages: readonly Uint8Array[]): Buffer {
  let size = 0;
  for (const message of messages) size += PREFIX_BYTES + message.length;
  const frames = Buffer.allocUnsafe(size);
  let at = 0;
  for (const message of messages) {
    const { length } = message;
    frames[at] = 0;
    // Not `writeUInt32BE`, which took 4 % of a call.
    frames[at + 1] = length >>> 24;
    frames[at + 2] = length >>> 16;
    frames[at + 3] = length >>> 8;
    frames[at + 4] = length;
    frames.set(message, at + PREFIX_BYTES);
    at += PREFIX_BYTES + length;
  }
  return frames;
}

const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;

/** The milliseconds of a `grpc-timeout`; `undefined` if it has another form. */
export function timeoutMs(text: string): number | undefined {
  const found = TIMEOUT.exec(text);
  return found === null ? undefined : Number(found[1]) * (UNIT_MS[found[2] ?? ''] ?? 0);
}

const PLAIN = /^[\x20-\x24\x26-\x7e]*$/;
/** Maximum length, because a longer text may exceed the header limit of a client. */
const LONGEST = 2_000;

/** Encodes a text as the value of `grpc-message`: UTF-8, percent-encoded, truncated if it is very long. */
export function statusMessage(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  if (PLAIN.test(cut)) return cut;
  return encodeURIComponent(cut.toWellFormed()).replace(/%(?:2[0-46-9A-F]|3[A-F]|40|5[B-E]|60|7[B-E])/g, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}

/**
 * Chunks below this size are copied together: a chunk object costs a hundred bytes, and keeps its whole buffer in
 * memory.
 */
const SMALL_BYTES = 1_024;
const BLOCK_BYTES = 16_384;

/** One message that arrives in chunks. */
export class MessageReader {
  readonly #chunks: Buffer[] = [];
  /** The buffer for small chunks. Its used part is the last of the chunks. */
  #block: Buffer | undefined;
  #used = 0;
  #received = 0;
  #length: number | undefined;
  #isCompressed = false;

  push(chunk: Buffer): void {
    if (this.#chunks.length > 0 && chunk.length < SMALL_BYTES) this.#append(chunk);
    else this.#chunks.push(chunk);
    if (chunk.length >= SMALL_BYTES) this.#block = undefined;
    this.#received += chunk.length;
    if (this.#length !== undefined || this.#received < PREFIX_BYTES) return;
    const head = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#isCompressed = head[0] !== 0;
    this.#length = head.readUInt32BE(1);
  }

  #append(chunk: Buffer): void {
    if (this.#block === undefined || this.#used + chunk.length > BLOCK_BYTES) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
      this.#chunks.push(this.#block);
    }
    chunk.copy(this.#block, this.#used);
    this.#used += chunk.length;
    this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#used);
  }

  /** The length that the prefix announces, in bytes; `undefined` before the prefix is complete. */
  get length(): number | undefined {
    return this.#length;
  }

  get isCompressed(): boolean {
    return this.#isCompressed;
  }

  /** Bytes that have arrived, with the prefix. */
  get received(): number {
    return this.#received;
  }

  get isWhole(): boolean {
    return this.#length !== undefined && this.#received >= PREFIX_BYTES + this.#length;
  }

  /** True if bytes follow the message. */
  get hasMore(): boolean {
    return this.#length !== undefined && this.#received > PREFIX_BYTES + this.#length;
  }

  /** The bytes of a complete message. */
  take(): Buffer {
    const [only] = this.#chunks;
    const all = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#received);
    return all.subarray(PREFIX_BYTES, PREFIX_BYTES + (this.#length ?? 0));
  }

  /** Returns a complete message, and begins the next one with the bytes after it. */
  next(): Buffer {
    const all = Buffer.concat(this.#chunks, this.#received);
    const end = PREFIX_BYTES + (this.#length ?? 0);
    this.#chunks.length = 0;
    this.#block = undefined;
    this.#received = 0;
    this.#length = undefined;
    if (all.length > end) this.push(all.subarray(end));
    return all.subarray(PREFIX_BYTES, end);
  }
}
