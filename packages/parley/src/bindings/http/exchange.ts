import type { ClientCertificate } from '../../auth/client-certificate.js';
import type { User } from '../../auth/user.js';
import type { DirectAnswer, DirectCall } from '../direct/direct-call.js';
import type { BodyMeter } from './body-budget.js';
import type { CallRecord } from './call-record.js';
import type { SocketPort } from './socket-port.js';

/** A request in the form that all hosts give: the contract between adapters and bindings. */
export interface ExchangeRequest {
  /** Upper case. */
  readonly method: string;
  /** The path as sent, percent-encoded, without query; begins with `/`. */
  readonly path: string;
  /** The query as sent, without `?`; "" if there is none. */
  readonly query: string;
  /** A header by its lower-case name; several lines are joined by `, `. */
  header(name: string): string | undefined;
  /** The number of lines in which a header came. Absent: the host does not know it. */
  headerLines?(name: string): number;
  /**
   * The whole body. The meter is called for each chunk.
   * @throws A2AError PAYLOAD_TOO_LARGE beyond `limit` bytes, without reading further.
   */
  body(limit: number, meter?: BodyMeter): Promise<Uint8Array>;
  /**
   * The body as it arrives, for bodies that are too large for memory. Only one of `body` and `chunks` is read, and only
   * once. A chunk is valid until the next one is requested. Absent: the host has read the body already.
   */
  readonly chunks?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Aborted when the peer disconnects before the answer is complete. Made at its first use. */
  readonly signal: AbortSignal;
  /**
   * Runs a task after all promises that are settled now have run. The frames of a stream that are ready by then are
   * sent together. Absent: the host cannot schedule that.
   */
  readonly afterPromises?: ((task: () => void) => void) | undefined;
  /** The address of the peer, if the host knows it. */
  readonly peer?: string | undefined;
  /** Scheme, address and port at which the request arrived, if the host knows them; never taken from the request. */
  readonly local?: string | undefined;
  /**
   * The status that the host has sent instead of this exchange's answer, such as 408 for a body that did not arrive.
   * Absent: none.
   */
  readonly toldStatus?: number | undefined;
  /** The path at which the host has mounted the exchange, as sent; `path` follows it. Absent at the root. */
  readonly mount?: string | undefined;
  /** Identifies the connection, if the host knows it. Requests of several callers may share one. */
  readonly connection?: object | undefined;
  /** The certificate that the client presented, if the host knows one. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** The user of the request. Only the gate of the host sets it. Absent: the caller is anonymous. */
  user?: User | undefined;
  /**
   * Calls `ended` once when the credential of the user expires or is revoked. The returned function stops that. Only
   * the gate sets it. Absent: the credential has no end.
   */
  onCredentialEnd?: ((ended: () => void) => () => void) | undefined;
  /**
   * Headers for the answer that a middleware knows before the exchange. They are merged with all others in one step.
   */
  addedHeaders?: Readonly<Record<string, string>> | undefined;
  /** The id of the request in the log, once it has one. */
  requestId?: string | undefined;
  /** True if the caller chose that id. */
  hasOwnId?: boolean;
  /** The id of its trace, once a span was made for it. */
  traceId?: string | undefined;
  /** The call, if the binding has its own message format. Absent: the call is in the body. */
  readonly call?: DirectCall | undefined;
}

/** The facts of a request for a file, for the audit. They are filled in while the request is handled. */
export interface FileAccess {
  operation: 'uploadFile' | 'beginUpload' | 'appendToUpload' | 'readFile' | 'deleteFile';
  /** The id of the agent's task space. */
  readonly agent: string;
  tenant?: string;
  fileId?: string;
  /** Bytes of the file that the request has stored, or that its answer has. */
  bytes?: number;
}

/** An answer in the form that all hosts send. Header names are lower case. */
export interface ExchangeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * A stream is pulled one string at a time, and no faster than the peer reads. If the peer disconnects, its iterator's
   * `return` is called. Each string holds whole frames.
   */
  readonly body?: string | Uint8Array | AsyncIterable<string>;
  /** A body that is too large for memory, instead of `body`. */
  readonly bytes?: {
    /** The sum of all chunks, in bytes. */
    readonly length: number;
    /**
     * Pulled as the peer reads. A chunk is valid until the next one is requested. If the peer disconnects, the
     * iterator's `return` is called.
     */
    readonly chunks: AsyncIterable<Uint8Array>;
  };
  /** Sent as it is and never compressed, because gateways rewrite agent cards. */
  readonly verbatim?: true;
  /** The call that it answers, if any. */
  readonly call?: CallRecord;
  /** The request for a file that it answers, if any. */
  readonly file?: FileAccess;
  /** The answer to a direct call, instead of a body. */
  readonly direct?: DirectAnswer;
  /** Takes over the connection as a WebSocket. Only with status 101; a host without WebSockets answers 501. */
  readonly upgrade?: (socket: SocketPort) => void;
}

/** Answers a request. Never rejects: a failure is an answer, too. */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeResponse>;
