import type { FileHandle } from 'node:fs/promises';

/** Chunks that go to the disk in one call, in bytes. */
const BATCH_BYTES = 1_048_576;

/** Writes chunks in batches, one at a time. The next batch fills up while the disk takes the last one. */
export class FileWriter {
  readonly #handle: FileHandle;
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  #writing: Promise<void> | undefined;
  /** Bytes so far. */
  size = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Takes a chunk. Waits for the disk if a batch is full and the last one is not written yet. */
  async write(chunk: Uint8Array): Promise<void> {
    if (chunk.length === 0) return;
    this.size += chunk.length;
    this.#batch.push(chunk);
    this.#batchBytes += chunk.length;
    if (this.#batchBytes >= BATCH_BYTES) await this.#flush();
  }

  /** Writes what is left, and waits until all of it is on the disk. */
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
    const [batch, bytes] = [this.#batch, this.#batchBytes];
    this.#batch = [];
    this.#batchBytes = 0;
    if (bytes === 0) return;
    this.#writing = this.#writeAll(batch, bytes);
    // The next batch or the end looks at the error.
    this.#writing.catch(() => {});
  }

  async #writeAll(batch: readonly Uint8Array[], bytes: number): Promise<void> {
    const { bytesWritten } = await this.#handle.writev(batch as Uint8Array[]);
    // A full disk may take a part.
    if (bytesWritten === bytes) return;
    let rest = Buffer.concat(batch).subarray(bytesWritten);
    while (rest.length > 0) {
      const { bytesWritten: more } = await this.#handle.write(rest);
      rest = rest.subarray(more);
    }
  }
}
