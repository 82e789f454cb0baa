/** Answers of a server since its start. Read on demand. */
export interface RequestFigures {
  readonly requests: number;
  /** Requests and streams that failed because of the server: a status of 500 or more, or an equivalent error. */
  readonly errors: number;
  readonly errorsByCode: ErrorFigures;
}

/**
 * Errors by their code. The groups overlap: one answer may be an HTTP error and a JSON-RPC error. `http` has answers
 * with a status of 400 or more, `jsonRpc` error responses, `stream` errors that ended a stream after its start.
 */
export type ErrorFigures = Readonly<Record<'http' | 'jsonRpc' | 'stream', Readonly<Record<string, number>>>>;

/** Hits and misses of a cache. */
export interface CacheFigures {
  readonly hits: number;
  readonly misses: number;
  /** All operations: reads, writes and invalidations. */
  readonly operations: number;
}

/** Memory of a process, in bytes. */
export interface MemoryFigures {
  readonly rss: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
}

/** A distribution of delays, in seconds. */
export interface DelayFigures {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The process of the server, if there is one. */
export interface ProcessFigures {
  readonly pid: number;
  memory(): MemoryFigures;
  /** CPU time, in seconds. */
  cpu(): number;
  /** Time since the start, in seconds. */
  uptime(): number;
  /** Delay of the event loop over about a minute. */
  eventLoopDelay(): DelayFigures;
}

/** The amount of waiting work in a storage. Members that a storage cannot measure are absent. */
export interface WaitingFigures {
  /** Messages whose turn has not started. */
  readonly waiting: number;
  /** Age of the oldest claimable message, in ms. */
  readonly oldestWaitMs?: number;
  /** Push configurations with pending deliveries that are not parked. */
  readonly pendingDeliveries?: number;
  /** Tasks that this process could not read since its start. */
  readonly unreadable?: number;
  /** Time since the oldest pending delivery became due, in ms. */
  readonly oldestDueMs?: number;
}

/** The figures of one process on a shared storage. */
export interface ReplicaFigures {
  /** Turns that this process had to stop, because another process may run them. */
  readonly leasesLost: number;
  /** Claims of turns that another process had started. */
  readonly takeovers: number;
  /** Age of the oldest change of a watched task that the process has not read yet, in ms. */
  readonly lagMs: number;
}

/** The figures of the deliveries of one process. */
export interface PushFigures {
  /** Acknowledged notifications. */
  readonly delivered: number;
  /** Failed attempts. */
  readonly failed: number;
  /** Queues that were parked. */
  readonly parked: number;
  /** Requests in progress. */
  readonly inFlight: number;
  /** Age of the oldest queue that waits for a retry, in ms; 0 if there is none. */
  readonly oldestWaitMs: number;
}
