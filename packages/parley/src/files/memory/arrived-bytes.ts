import { quotaBytes } from '../file-store.js';

/** Maximum size of a new block, if a single chunk does not need more. */
const BLOCK_BYTES = 262_144;

/**
 * Received bytes, in blocks that grow with them. A sender of single bytes takes at most twice the memory of its bytes,
 * and memory is taken only for received bytes. The minimum is that of the smallest counted file, because the metadata
 * of the store takes memory, too.
 */
export class ArrivedBytes {
  readonly #takeRoom: (bytes: number) => void;
  readonly #most: number;
  #blocks: Uint8Array[] = [];
  #size = 0;
  #room = 0;
  #takenRoom = 0;

  /**
   * `takeRoom` reserves bytes of the store, and throws if it is full; a negative number releases them. `most`: the
   * maximum number of bytes. Throws if there is no room for the smallest file.
   */
  constructor(takeRoom: (bytes: number) => void, most = Number.POSITIVE_INFINITY) {
    this.#takeRoom = takeRoom;
    this.#most = most;
    this.#setRoom(0);
  }

  /** Number of received bytes. */
  get size(): number {
    return this.#size;
  }

  /** The bytes. Call `trim` after the last of them, and before this. */
  get blocks(): readonly Uint8Array[] {
    return this.#blocks;
  }

  /** Copies a chunk. The bytes before an error stay. */
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

  /** Releases reserved room that was not used. */
  trim(): void {
    const free = this.#room - this.#size;
    const last = this.#blocks.at(-1);
    if (free === 0 || last === undefined) return;
    this.#blocks[this.#blocks.length - 1] = last.slice(0, last.length - free);
    this.#setRoom(this.#size);
  }

  /** Releases all room. */
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
