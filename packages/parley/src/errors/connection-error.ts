import { A2AError } from './a2a-error.js';

/** The agent cannot be reached, or the connection broke before its answer was there. Made by clients. */
export class ConnectionError extends A2AError {
  override readonly name = 'ConnectionError';
  /** Whether anything of the request may have reached the agent, so that it may have acted on it. */
  readonly sent: boolean;
  constructor(message: string, { sent, cause }: { readonly sent: boolean; readonly cause?: unknown }) {
    super('UNAVAILABLE', message, {}, { cause });
    this.sent = sent;
  }
}
