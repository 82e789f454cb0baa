import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.js';

/** Bytes of the length prefix of a frame. */
const HEAD_BYTES = 4;
/** The bit of the length prefix that marks a frame with one entry, prefixed by its length, and bytes after it. */
const HAS_BYTES = 0x80000000;
/** Maximum characters of the entries in one frame. A longer entry has its own frame. */
const SHARED_CHARACTERS = 1_048_576;

/** Maximum length of an entry, in characters. Larger than any text within the limits of a server. */
export const ENTRY_CHARACTERS = 134_217_728;

/** Options of a link. */
interface FrameLinkOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  /** Maximum bytes of a frame. A longer one ends the link. */
  readonly maxBytes: number;
  /** Called with the entries of each frame in order, and with the bytes of an entry. A thrown error ends the link. */
  readonly onEntries: (entries: readonly unknown[], bytes?: Uint8Array) => void;
  /** Called after waiting entries were sent. */
  readonly onSent?: () => void;
  readonly onClose: () => void;
}

/** An entry that waits to be sent. */
interface Entry {
  readonly text: string;
  readonly bytes: Uint8Array | undefined;
}

/**
 * A connection between two processes of one machine. Entries of the same tick share a frame: a length prefix and a JSON
 * array. An entry with bytes has its own frame. Entries are queued here until the socket drains.
 */
export class FrameLink {
  /** Raised after the other side has sent its token. */
  maxBytes: number;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #onEntries: FrameLinkOptions['onEntries'];
  readonly #onSent: FrameLinkOptions['onSent'];
  #entries: Entry[] = [];
  #characters = 0;
  #isSending = false;
  #chunks: Buffer[] = [];
  #received = 0;

  constructor({ socket, clock, maxBytes, onEntries, onSent, onClose }: FrameLinkOptions) {
    this.#socket = socket;
    this.#clock = clock;
    this.maxBytes = maxBytes;
    this.#onEntries = onEntries;
    this.#onSent = onSent;
    socket.on('data', this.#onData);
    socket.on('drain', this.#send);
    // `close` follows every error.
    socket.on('error', () => {});
    socket.once('close', onClose);
  }

  /** Characters of the queued entries. */
  get waiting(): number {
    return this.#characters;
  }

  /** Sends an entry as JSON, and bytes that belong to it. Entries arrive in the order of their calls. */
  send(text: string, bytes?: Uint8Array): void {
    const entry = { text, bytes };
    this.#entries.push(entry);
    this.#characters += sizeOf(entry);
    if (this.#isSending) return;
    this.#isSending = true;
    this.#clock.soon(this.#send);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Sends the queued entries, and ends the connection. */
  end(): void {
    this.#send();
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #send = (): void => {
    this.#isSending = false;
    while (this.#entries.length > 0 && !this.#socket.writableNeedDrain) {
      let characters = 0;
      const end = this.#entries.findIndex((entry, at) => {
        characters += sizeOf(entry);
        return at > 0 && (characters > SHARED_CHARACTERS || (entry.bytes ?? this.#entries[0]?.bytes) !== undefined);
      });
      const entries = end < 0 ? this.#entries : this.#entries.slice(0, end);
      this.#entries = end < 0 ? [] : this.#entries.slice(end);
      for (const entry of entries) this.#characters -= sizeOf(entry);
      const [{ text = '', bytes } = {}] = entries;
      this.#socket.write(
        bytes === undefined ? frameOf(`[${entries.map((entry) => entry.text).join(',')}]`) : frameOf(text, bytes),
      );
    }
    this.#onSent?.();
  };

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    try {
      for (let frame = this.#frame(); frame !== undefined; frame = this.#frame()) {
        const { bytes, hasBytes } = frame;
        if (!hasBytes) {
          this.#onEntries(JSON.parse(bytes.toString('utf8')) as readonly unknown[]);
          continue;
        }
        const end = HEAD_BYTES + bytes.readUInt32LE();
        this.#onEntries([JSON.parse(bytes.toString('utf8', HEAD_BYTES, end))], bytes.subarray(end));
      }
    } catch {
      // Only a faulty or unrelated process sends invalid frames.
      this.#socket.destroy();
    }
  };

  /** Removes and returns the next whole frame. */
  #frame(): { readonly bytes: Buffer; readonly hasBytes: boolean } | undefined {
    if (this.#received < HEAD_BYTES || this.#socket.destroyed) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < HEAD_BYTES) this.#chunks = [Buffer.concat(this.#chunks)];
    const head = this.#chunks[0]?.readUInt32LE() ?? 0;
    const hasBytes = head >= HAS_BYTES;
    const length = hasBytes ? head - HAS_BYTES : head;
    if (length > this.maxBytes) throw new RangeError('The frame is too long');
    const end = HEAD_BYTES + length;
    if (this.#received < end) return undefined;
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    if (bytes === undefined) return undefined;
    this.#received -= end;
    this.#chunks = this.#received === 0 ? [] : [bytes.subarray(end)];
    return { bytes: bytes.subarray(HEAD_BYTES, end), hasBytes };
  }
}

function sizeOf({ text, bytes }: Entry): number {
  return text.length + (bytes?.length ?? 0);
}

function frameOf(text: string, bytes?: Uint8Array): Buffer {
  const textBytes = Buffer.byteLength(text);
  if (bytes === undefined) {
    const frame = Buffer.allocUnsafe(HEAD_BYTES + textBytes);
    frame.writeUInt32LE(textBytes);
    frame.write(text, HEAD_BYTES);
    return frame;
  }
  const start = HEAD_BYTES * 2 + textBytes;
  const frame = Buffer.allocUnsafe(start + bytes.length);
  frame.writeUInt32LE(frame.length - HEAD_BYTES + HAS_BYTES);
  frame.writeUInt32LE(textBytes, HEAD_BYTES);
  frame.write(text, HEAD_BYTES * 2);
  frame.set(bytes, start);
  return frame;
}
