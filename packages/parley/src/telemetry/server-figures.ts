/** What a server has answered since it started; read whenever somebody wants to know. */
export interface RequestFigures {
  readonly requests: number;
  /** Requests and streams that failed through the server: a status of 500 or more, or an error that says the same. */
  readonly errors: number;
  readonly errorsByCode: ErrorFigures;
}

/**
 * Errors by their code. The groups overlap: one answer may be an HTTP error and a JSON-RPC error. `http` has answers
 * with a status of 400 or more, `jsonRpc` error responses, `stream` errors that ended a stream after its start.
 */
export type ErrorFigures = Readonly<Record<'http' | 'jsonRpc' | 'stream', Readonly<Record<string, number>>>>;

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
