import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.js';

/** Bytes of the length in front of a frame. */
const HEAD_BYTES = 4;
/** Characters of the entries that share a frame. A longer entry has a frame of its own. */
const SHARED_CHARACTERS = 1_048_576;

/** The longest entry, in characters: above all texts that the limits of a server let through. */
export const ENTRY_CHARACTERS = 134_217_728;

/** Options of a link. */
interface FrameLinkOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  /** Bytes of a frame at most. A longer one ends the link. */
  readonly maxBytes: number;
  /** Called with the entries of each frame, in order. An error ends the link. */
  readonly onEntries: (entries: readonly unknown[]) => void;
  /** Called when entries that waited have been sent. */
  readonly onSent?: () => void;
  readonly onClose: () => void;
}

/**
 * A connection between two processes of one machine. Entries of one moment share a frame: its length, and a JSON array.
 * Entries wait here while the socket does not drain.
 */
export class FrameLink {
  /** Changed when the other side has shown its token. */
  maxBytes: number;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #onEntries: FrameLinkOptions['onEntries'];
  readonly #onSent: FrameLinkOptions['onSent'];
  #entries: string[] = [];
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
    // The close follows.
    socket.on('error', () => {});
    socket.once('close', onClose);
  }

  /** Characters of the entries that wait to be sent. */
  get waiting(): number {
    return this.#characters;
  }

  /** Sends an entry as JSON. Entries arrive in the order of their calls. */
  send(entry: string): void {
    this.#entries.push(entry);
    this.#characters += entry.length;
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

  /** Sends what waits, and ends the connection. */
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
        characters += entry.length;
        return at > 0 && characters > SHARED_CHARACTERS;
      });
      const entries = end < 0 ? this.#entries : this.#entries.slice(0, end);
      this.#entries = end < 0 ? [] : this.#entries.slice(end);
      for (const { length } of entries) this.#characters -= length;
      this.#write(`[${entries.join(',')}]`);
    }
    this.#onSent?.();
  };

  #write(text: string): void {
    const frame = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(text));
    frame.writeUInt32LE(frame.length - HEAD_BYTES);
    frame.write(text, HEAD_BYTES);
    this.#socket.write(frame);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    try {
      for (let frame = this.#frame(); frame !== undefined; frame = this.#frame()) {
        this.#onEntries(JSON.parse(frame.toString('utf8')) as readonly unknown[]);
      }
    } catch {
      // Only a broken or a foreign process sends something else.
      this.#socket.destroy();
    }
  };

  /** Takes the next whole frame out. */
  #frame(): Buffer | undefined {
    if (this.#received < HEAD_BYTES || this.#socket.destroyed) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < HEAD_BYTES) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = this.#chunks[0]?.readUInt32LE() ?? 0;
    if (length > this.maxBytes) throw new RangeError('The frame is too long');
    const end = HEAD_BYTES + length;
    if (this.#received < end) return undefined;
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    if (bytes === undefined) return undefined;
    this.#received -= end;
    this.#chunks = this.#received === 0 ? [] : [bytes.subarray(end)];
    return bytes.subarray(HEAD_BYTES, end);
  }
}
