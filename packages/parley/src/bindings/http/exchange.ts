import type { BodyMeter } from './body-budget.js';
import type { CallRecord } from './call-record.js';

/** A request as any host can give it: the universal half between a host's adapter and the bindings. */
export interface ExchangeRequest {
  /** Upper case. */
  readonly method: string;
  /** Path as sent, still percent-encoded, without query. Begins with `/`. */
  readonly path: string;
  /** Query as sent, without `?`; "" if there is none. */
  readonly query: string;
  /** A header by lower-case name; several lines joined by `, `. */
  header(name: string): string | undefined;
  /**
   * The whole body. The meter, if given, hears of each piece that arrives.
   * @throws A2AError PAYLOAD_TOO_LARGE beyond `limit` bytes, without reading further.
   */
  body(limit: number, meter?: BodyMeter): Promise<Uint8Array>;
  /** Aborted when the peer goes away before the answer is complete. Made when first looked at. */
  readonly signal: AbortSignal;
  /** Address of the peer, where the host knows it. */
  readonly peer?: string | undefined;
  /** Scheme, address and port at which the request arrived, where the host knows it; never what the request claims. */
  readonly local?: string | undefined;
  /** The path under which the host has put the exchange, as sent; `path` is what follows it. Absent at the root. */
  readonly mount?: string | undefined;
  /** What the log calls it, from the moment on that somebody has named it. */
  requestId?: string | undefined;
}

/** An answer as any host can send it. Header names are lower case. */
export interface ExchangeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * A stream is pulled one string at a time and no faster than the peer reads; its iterator's `return` is called when
   * the peer has gone. Each string is a whole number of frames.
   */
  readonly body?: string | Uint8Array | AsyncIterable<string>;
  /** Goes out as it is and is never compressed: gateways rewrite agent cards. */
  readonly verbatim?: true;
  /** The call that it answers, if it answers one. */
  readonly call?: CallRecord;
}

/** Answers a request. Never rejects: what goes wrong is an answer too. */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeResponse>;
