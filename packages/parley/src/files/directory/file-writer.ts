import type { FileHandle } from 'node:fs/promises';

/** Bytes per write to the disk. */
const BATCH_BYTES = 262_144;

/** Writes chunks in batches, one at a time. The next batch is filled while the disk writes the last one. */
export class FileWriter {
  readonly #handle: FileHandle;
  /** Two reused buffers: a new one for each batch would be much garbage. */
  #filling: Buffer | undefined;
  #spare: Buffer | undefined;
  #filled = 0;
  #writing: Promise<void> | undefined;
  /** Bytes so far. */
  size = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Copies a chunk. Waits for the disk if a batch is full and the last one is not written yet. */
  async write(chunk: Uint8Array): Promise<void> {
    this.size += chunk.length;
    for (let rest = chunk; rest.length > 0; ) {
      this.#filling ??= Buffer.allocUnsafeSlow(BATCH_BYTES);
      const taken = rest.subarray(0, BATCH_BYTES - this.#filled);
      this.#filling.set(taken, this.#filled);
      this.#filled += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#filled === BATCH_BYTES) await this.#flush();
    }
  }

  /** Writes the rest, and waits until all of it is on the disk. */
  async sync(): Promise<void> {
    await this.#flush();
    await this.#writing;
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    await this.#writing;
    const batch = this.#filling?.subarray(0, this.#filled);
    if (batch === undefined || batch.length === 0) return;
    [this.#filling, this.#spare] = [this.#spare, this.#filling];
    this.#filled = 0;
    this.#writing = this.#writeAll(batch);
    // The next batch or `sync` handles the error.
    this.#writing.catch(() => {});
  }

  async #writeAll(batch: Buffer): Promise<void> {
    // A full disk may write only a part.
    for (let rest = batch; rest.length > 0; ) {
      const { bytesWritten } = await this.#handle.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  }
}
