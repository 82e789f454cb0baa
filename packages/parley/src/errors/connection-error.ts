import { A2AError } from './a2a-error.js';

/** A client cannot reach the agent, or the connection broke before the answer arrived. */
export class ConnectionError extends A2AError {
  override readonly name = 'ConnectionError';
  /** True if a part of the request may have reached the agent, so that the agent may have acted on it. */
  readonly sent: boolean;
  constructor(message: string, { sent, cause }: { readonly sent: boolean; readonly cause?: unknown }) {
    super('UNAVAILABLE', message, {}, { cause });
    this.sent = sent;
  }
}
