import { A2AError } from './a2a-error.js';

/** Why a call has no credentials. */
export type CredentialsFault =
  /** Nothing that the caller has is what the agent asks for, or what it has cannot be used. */
  | 'missing'
  /** Who hands out tokens, or the person asked, said no. */
  | 'refused'
  /** Who hands out tokens cannot be reached, or answers nonsense. */
  | 'unavailable';

/** A call could not be given credentials, so it was not sent. Made by clients; tells no secret, not even in a cause. */
export class CredentialsError extends A2AError {
  override readonly name = 'CredentialsError';
  readonly fault: CredentialsFault;
  constructor(fault: CredentialsFault, message: string) {
    super(fault === 'unavailable' ? 'UNAVAILABLE' : 'UNAUTHENTICATED', message);
    this.fault = fault;
  }
}
