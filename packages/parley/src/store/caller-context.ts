import type { JsonObject } from '../model/json.js';

/**
 * The properties of a user that a turn stores, as of the acceptance of its message. A retry or a takeover by another
 * process sees the same user. The id is in the scope.
 */
export interface CallerUser {
  readonly name?: string;
  readonly schemes?: readonly string[];
  readonly scopes?: readonly string[];
  readonly permissions?: readonly string[];
  readonly metadata?: JsonObject;
}

/** The properties of a call that its turn stores. Never contains credentials. */
export interface CallerContext {
  /** Absent for an anonymous caller, and for a user of whom only the id is known. */
  readonly user?: CallerUser;
  readonly extensions: readonly string[];
  readonly acceptedOutputModes?: readonly string[];
  readonly version: string;
  /** ms since the epoch. Absent in turns of older versions. */
  readonly acceptedAt?: number;
  readonly requestMetadata?: JsonObject;
  readonly traceparent?: string;
  /** Both are stored only by a server with tracing. */
  readonly tracestate?: string;
  readonly baggage?: string;
  /**
   * The earlier turn that began with the same message, and its attempts. Set for the turn that resumes it: the history
   * already contains the message. `true` in turns of older versions.
   */
  readonly resumes?: true | { readonly turn: number; readonly attempt: number };
  /** The encrypted reply to a request for authorization, for the turn that resumes the task. */
  readonly sealedReply?: string;
}
