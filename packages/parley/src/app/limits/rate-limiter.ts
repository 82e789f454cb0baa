/** A number of requests in a window of time. */
export interface Rate {
  readonly requests: number;
  readonly windowMs: number;
}

/** The answer of a limiter to one request. */
export interface RateDecision {
  readonly allowed: boolean;
  /** Requests that are left in the window. */
  readonly remaining: number;
  /** Time until the window ends, in ms. */
  readonly resetMs: number;
}

/** Counts requests by key. A limiter of several processes counts in a store that they share. */
export interface RateLimiter {
  /** Counts a request against a rate. If it rejects, the host serves the request and logs the failure. */
  take(key: string, rate: Rate): RateDecision | Promise<RateDecision>;
}
