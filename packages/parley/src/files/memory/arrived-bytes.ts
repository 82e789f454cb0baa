import { quotaBytes } from '../file-store.js';

/** The most bytes of a block that is larger than the bytes for which it is made. */
const BLOCK_BYTES = 262_144;

/**
 * Bytes that arrive, in blocks that grow with them. So a sender of single bytes takes no more than twice their room,
 * and room is taken only for bytes that have come. It is at least that of the smallest counted file, because what
 * the store keeps beside the bytes takes memory too.
 */
export class ArrivedBytes {
  readonly #takeRoom: (bytes: number) => void;
  readonly #most: number;
  #blocks: Uint8Array[] = [];
  #size = 0;
  #room = 0;
  #takenRoom = 0;

  /**
   * `takeRoom` takes bytes of the store, and throws if there is no room; a negative number gives them back. `most`:
   * more bytes than these never come. Throws if there is no room for the smallest file.
   */
  constructor(takeRoom: (bytes: number) => void, most = Number.POSITIVE_INFINITY) {
    this.#takeRoom = takeRoom;
    this.#most = most;
    this.#setRoom(0);
  }

  /** Count of the bytes that have come. */
  get size(): number {
    return this.#size;
  }

  /** The bytes, if `trim` was called after the last of them. */
  get blocks(): readonly Uint8Array[] {
    return this.#blocks;
  }

  /** Copies bytes. Bytes before an error stay. */
  append(chunk: Uint8Array): void {
    const free = this.#room - this.#size;
    const first = chunk.subarray(0, free);
    this.#blocks.at(-1)?.set(first, (this.#blocks.at(-1)?.length ?? 0) - free);
    this.#size += first.length;
    const rest = chunk.subarray(free);
    if (rest.length === 0) return;
    const length = Math.max(rest.length, Math.min(this.#room, BLOCK_BYTES, this.#most - this.#room));
    this.#setRoom(this.#room + length);
    const block = new Uint8Array(length);
    block.set(rest);
    this.#blocks.push(block);
    this.#size += rest.length;
  }

  /** Gives back the room of bytes that did not come. */
  trim(): void {
    const free = this.#room - this.#size;
    const last = this.#blocks.at(-1);
    if (free === 0 || last === undefined) return;
    this.#blocks[this.#blocks.length - 1] = last.slice(0, last.length - free);
    this.#setRoom(this.#size);
  }

  /** Gives all room back. */
  release(): void {
    this.#takeRoom(-this.#takenRoom);
    this.#takenRoom = 0;
    this.#blocks = [];
    this.#room = 0;
    this.#size = 0;
  }

  #setRoom(bytes: number): void {
    const counted = quotaBytes(bytes);
    this.#takeRoom(counted - this.#takenRoom);
    this.#takenRoom = counted;
    this.#room = bytes;
  }
}
