/** A process that asks for requests of a key within its window of time. */
export interface RateAsk {
  /** Names the caller and the rate. */
  readonly key: string;
  /** The requests of a window. */
  readonly requests: number;
  readonly windowMs: number;
  /** Requests that wait for the answer. */
  readonly wanted: number;
}

/** The requests that a process got. */
export interface RateGrant {
  /** 0: the window has no more. */
  readonly granted: number;
  /** The requests that are left for all processes. */
  readonly left: number;
  /** Time until the window ends, in ms, by the clock of the storage. */
  readonly endsInMs: number;
}

/**
 * Counters of requests that all processes on a storage share. A process takes requests in blocks and counts within a
 * block by itself. The window of a key begins with its first block. Counters may be lost: then windows begin anew.
 */
export interface RateCounters {
  /**
   * Takes a block for each key, in the order asked. The keys differ.
   * @throws StorageError if the counters cannot be reached.
   */
  take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]>;
}

/** The part of a window that a process takes at most, beside the requests that wait. */
export const BLOCKS = 16;

/**
 * The size of a block. Blocks shrink with the rest of a window. So a process with many requests asks seldom, and at the
 * end no process keeps much from the others.
 */
export function blockOf(left: number, wanted: number): number {
  return Math.min(left, Math.max(wanted, Math.floor(left / BLOCKS)));
}
