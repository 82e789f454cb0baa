/** A connection with bytes that wait for its peer to read. */
export interface WaitingHolder {
  /** The caller, such as its address. Unknown callers count as one. */
  readonly caller: string | undefined;
  /** The bytes that wait now. */
  readonly waitingBytes: number;
  /** Ends the connection, and gives its bytes back. */
  endWaiting(): void;
}

/** Bytes of one connection that are not counted, so that connections with a reading peer cost nothing here. */
const SMALL_BYTES = 65_536;

/**
 * Bounds the bytes of all connections that wait for their peers to read. Beyond the bound, the caller with the most
 * bytes loses its largest connection. So a caller with many connections cannot push out others.
 */
export class WaitingMemory {
  readonly #maxBytes: number;
  /** Connections with many bytes, and their bytes at the last count. */
  readonly #seen = new Map<WaitingHolder, number>();
  #sum = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts the bytes that wait on a connection now. */
  count(holder: WaitingHolder, bytes: number): void {
    const before = this.#seen.get(holder) ?? 0;
    if (bytes <= SMALL_BYTES) {
      if (before > 0) this.forget(holder);
      return;
    }
    this.#sum += bytes - before;
    this.#seen.set(holder, bytes);
    if (this.#sum > this.#maxBytes) this.#makeRoom();
  }

  /** Removes a connection that has ended. */
  forget(holder: WaitingHolder): void {
    this.#sum -= this.#seen.get(holder) ?? 0;
    this.#seen.delete(holder);
  }

  #makeRoom(): void {
    // A connection does not report when its bytes leave, so all of them are counted again.
    for (const [holder] of [...this.#seen]) {
      const { waitingBytes } = holder;
      this.forget(holder);
      if (waitingBytes <= SMALL_BYTES) continue;
      this.#seen.set(holder, waitingBytes);
      this.#sum += waitingBytes;
    }
    while (this.#sum > this.#maxBytes) {
      const largest = this.#largest();
      if (largest === undefined) return;
      this.forget(largest);
      largest.endWaiting();
    }
  }

  #largest(): WaitingHolder | undefined {
    const byCaller = new Map<string | undefined, number>();
    for (const [{ caller }, bytes] of this.#seen) byCaller.set(caller, (byCaller.get(caller) ?? 0) + bytes);
    const [[caller] = []] = [...byCaller].sort(([, a], [, b]) => b - a);
    const own = [...this.#seen].filter(([holder]) => holder.caller === caller);
    const [[largest] = []] = own.sort(([, a], [, b]) => b - a);
    return largest;
  }
}
