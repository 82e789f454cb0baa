import { A2AError } from './a2a-error.js';
import { beginAtCaller } from './callers-stack.js';

/** The reason why a call has no credentials. */
export type CredentialsFault =
  /** The caller has no credential that the agent asks for, or the credential cannot be used. */
  | 'missing'
  /** The authorization server or the person refused. */
  | 'refused'
  /** The authorization server cannot be reached, or its answer is not valid. */
  | 'unavailable';

/** A client did not send a call, because it has no credentials for it. Holds no secret, not even in `cause`. */
export class CredentialsError extends A2AError {
  override readonly name = 'CredentialsError';
  readonly fault: CredentialsFault;
  constructor(fault: CredentialsFault, message: string) {
    super(fault === 'unavailable' ? 'UNAVAILABLE' : 'UNAUTHENTICATED', message);
    this.fault = fault;
    beginAtCaller(this);
  }
}
