import type { JsonObject } from '../model/json.js';

/**
 * The part of a user that a turn keeps, as it was when the message was accepted. A turn that runs again, or in another
 * process, has the same user. The scope has the id.
 */
export interface CallerUser {
  readonly name?: string;
  readonly schemes?: readonly string[];
  readonly scopes?: readonly string[];
  readonly permissions?: readonly string[];
  readonly metadata?: JsonObject;
}

/** The part of a call that its turn keeps; never credentials. */
export interface CallerContext {
  /** Absent for an anonymous caller, and for a user of whom only the id is known. */
  readonly user?: CallerUser;
  readonly extensions: readonly string[];
  readonly acceptedOutputModes?: readonly string[];
  readonly version: string;
  readonly requestMetadata?: JsonObject;
  readonly traceparent?: string;
  /** These two are kept by a server with tracing only. */
  readonly tracestate?: string;
  readonly baggage?: string;
  /**
   * The turn that has begun the message before, with its attempts, for a turn that goes on with it: the history has the
   * message already. True in turns of older versions.
   */
  readonly resumes?: true | { readonly turn: number; readonly attempt: number };
  /** The encrypted reply to a request for authorization, for the turn that goes on with it. */
  readonly sealedReply?: string;
}
