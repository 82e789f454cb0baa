import type { User } from '../auth/user.js';

/** The facts of a call in addition to its request, for all bindings. */
export interface ServerCallContext {
  /** Absent: the caller is anonymous. */
  readonly user?: User;
  /** The task that the request names. Absent for a message that starts a task, and for lists. */
  readonly taskId?: string;
  /** The context that the request names. */
  readonly contextId?: string;
  /** The protocol version of the call, `Major.Minor`. */
  readonly version: string;
  /**
   * URIs of the extensions this call activates: asked for by the client and offered by the card (Spec §3.2.6, §4.6.3).
   */
  readonly extensions: readonly string[];
  /** Last sequence number the caller has seen of the stream it asks for again, as sent. */
  readonly lastEventId?: string;
  /** W3C trace context. */
  readonly traceparent?: string;
  /** Called when the message is taken in: from then on the memory of its body does not count as that of a request. */
  readonly takenIn?: () => void;
  /** Aborted when the caller goes away. Made when first looked at. */
  readonly signal: AbortSignal;
}
