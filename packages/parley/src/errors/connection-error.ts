import { A2AError } from './a2a-error.js';
import { beginAtCaller } from './callers-stack.js';

/** A client cannot reach the agent, or the connection broke before the answer arrived. */
export class ConnectionError extends A2AError {
  override readonly name = 'ConnectionError';
  /** True if a part of the request may have reached the agent, so that the agent may have acted on it. */
  readonly sent: boolean;
  /** True if no later call can reach the agent: the client is closed, or the server in this process. */
  readonly isFinal: boolean;
  constructor(
    message: string,
    { sent, isFinal = false, cause }: { readonly sent: boolean; readonly isFinal?: boolean; readonly cause?: unknown },
  ) {
    super('UNAVAILABLE', message, {}, { cause });
    this.sent = sent;
    this.isFinal = isFinal;
    beginAtCaller(this);
  }
}
