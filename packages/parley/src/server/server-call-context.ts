import type { User } from '../auth/user.js';

/** The facts of a call in addition to its request, for all bindings. */
export interface ServerCallContext {
  /** The caller. Absent: anonymous. */
  readonly user?: User;
  /** Names the caller in limits: a user, or the address of an anonymous caller. Absent: no limit counts for it. */
  readonly caller?: string;
  /** The task that the request names. Absent for a message that starts a task, and for lists. */
  readonly taskId?: string;
  /** The context that the request names. */
  readonly contextId?: string;
  /**
   * The ids for the task that a message starts. Interceptors and a custom handler have them before the task is there.
   * Not used if the message is a repeat, or has a direct reply. Absent for calls that start no task.
   */
  readonly newTask?: { readonly taskId: string; readonly contextId: string };
  /** The protocol version of the call, `Major.Minor`. */
  readonly version: string;
  /**
   * URIs of the extensions that this call activates. The client asked for them and the card offers them (Spec §3.2.6,
   * §4.6.3).
   */
  readonly extensions: readonly string[];
  /** The `Last-Event-ID` of a client that resumes a stream, as sent: the last sequence number that it has seen. */
  readonly lastEventId?: string;
  /** W3C trace context, as sent. The other two come with a `traceparent` only. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
  /** Called when the message is stored. From then on its body does not count as memory of a request. */
  readonly takenIn?: () => void;
  /** Aborts when the caller disconnects. Made at the first read. */
  readonly signal: AbortSignal;
}
