import type { User } from '../auth/user.js';

/** Properties of a call in addition to its request, for all bindings. */
export interface ServerCallContext {
  /** The caller. Absent: anonymous. */
  readonly user?: User;
  /** Identifies the caller in limits: a user, or the address of an anonymous caller. Absent: no limit applies. */
  readonly caller?: string;
  /** The task that the request names. Absent for a message that starts a task, and for lists. */
  readonly taskId?: string;
  /** The context that the request names. */
  readonly contextId?: string;
  /**
   * The ids for the task that a message creates, available to interceptors and a custom handler before the task exists.
   * Not used if the message is a repeat, or gets a direct reply. Absent for calls that create no task.
   */
  readonly newTask?: { readonly taskId: string; readonly contextId: string };
  /** The protocol version of the call, `Major.Minor`. */
  readonly version: string;
  /**
   * URIs of the extensions of this call: those that the client has requested and the card declares (Spec §3.2.6,
   * §4.6.3).
   */
  readonly extensions: readonly string[];
  /** The `Last-Event-ID` of a client that resumes a stream, as sent: the last sequence number that it has received. */
  readonly lastEventId?: string;
  /** W3C trace context, as sent. The other two are set only with a `traceparent`. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
  /** Called when the message is stored. From then on its body no longer counts as memory of a request. */
  readonly takenIn?: () => void;
  /** Aborts when the caller disconnects. Created at the first read. */
  readonly signal: AbortSignal;
}
