import { errorDetails, InternalError } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';

/** The domain of all reasons (Spec §3.3.2). */
const ERROR_DOMAIN = 'a2a-protocol.org';

/** The members of a sent error: they survive, but its class does not. `reason` is the code. */
interface WireErrorMembers {
  readonly reason: string;
  readonly domain: string;
  readonly details: readonly unknown[];
  readonly retryAfterMs?: number;
}

/** An error that may leave the process. */
class WireError extends Error implements WireErrorMembers {
  readonly reason: string;
  readonly domain = ERROR_DOMAIN;
  readonly details: readonly unknown[];
  declare readonly retryAfterMs?: number;

  constructor(error: A2AError) {
    super(error.message);
    this.reason = error.code;
    this.details = errorDetails(error, error.code);
    const { retryAfterMs } = error.details;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    // Hidden, because the library would send it.
    Object.defineProperty(this, 'stack', { value: undefined });
  }
}

/** The error for a peer. */
export function toWireError(error: A2AError): Error {
  return new WireError(error);
}

/** The end of the text of the library for a call of a member that is no method. */
const NO_METHOD = /is not a function\.$|^Attempted to access property/;

/**
 * Replaces an error that a session sends. Errors of this binding are unchanged, and errors for the caller keep their
 * code. A call of an unknown method gets its own error. All others become an internal error without details.
 */
export function sentError(error: Error, unknownMethod: () => A2AError): Error | undefined {
  if (error instanceof WireError) return undefined;
  if (error instanceof A2AError) return toWireError(error);
  return toWireError(NO_METHOD.test(error.message) ? unknownMethod() : new InternalError());
}
