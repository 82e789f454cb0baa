/** A request of a process for a block of a rate. */
export interface RateAsk {
  /** Identifies the caller and the rate. */
  readonly key: string;
  /** Maximum number of requests in a window. */
  readonly requests: number;
  readonly windowMs: number;
  /** Number of requests that wait for the answer. */
  readonly wanted: number;
}

/** The block that a process got. */
export interface RateGrant {
  /** Number of requests in the block. 0: the window is used up. */
  readonly granted: number;
  /** Number of requests left for all processes. */
  readonly left: number;
  /** Time until the window ends, in ms, by the clock of the storage. */
  readonly endsInMs: number;
}

/**
 * Request counters that all processes on a storage share. A process takes requests in blocks, and counts locally within
 * a block. The window of a key begins with its first block. If counters are lost, windows restart.
 */
export interface RateCounters {
  /**
   * Takes a block for each key, in the given order. Keys must be distinct.
   * @throws StorageError if the counters cannot be reached.
   */
  take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]>;
}

/** A block is at most 1/16 of the rest of a window, unless more requests wait. */
export const BLOCKS = 16;

/**
 * Returns the size of a block. Blocks shrink with the rest of the window. So a busy process asks rarely, and no process
 * holds many requests back near the end.
 */
export function blockOf(left: number, wanted: number): number {
  return Math.min(left, Math.max(wanted, Math.floor(left / BLOCKS)));
}
