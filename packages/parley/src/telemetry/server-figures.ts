/** What a server has answered since it started; read whenever somebody wants to know. */
export interface RequestFigures {
  readonly requests: number;
  /** Answers with a status of 500 or more. */
  readonly errors: number;
}

/** How often a cache had what it was asked for. */
export interface CacheFigures {
  readonly hits: number;
  readonly misses: number;
  /** All that was asked of it: reads, writes, invalidations. */
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

/** The process that serves, where there is one. */
export interface ProcessFigures {
  readonly pid: number;
  memory(): MemoryFigures;
  /** CPU time it has used, in seconds. */
  cpu(): number;
  /** How long it has run, in seconds. */
  uptime(): number;
  /** How late its event loop has been for about a minute. */
  eventLoopDelay(): DelayFigures;
}
