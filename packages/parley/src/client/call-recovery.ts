import type { RequestCredentials } from '../auth/credential-provider.js';
import { A2AError } from '../errors/a2a-error.js';
import type { AgentConnection } from './agent-connection.js';
import { AttemptPauses } from './attempt-pauses.js';
import type { ClientRuntime } from './client-runtime.js';
import { addressOf, type ClientTransport } from './client-transport.js';
import type { CredentialGuard } from './credential-guard.js';
import { ATTEMPTS, type RetryOptions, waitBeforeResend } from './send-retries.js';

/** The options of `CallRecovery`. */
interface CallRecoveryOptions {
  /** True if the call sends a message. */
  readonly sendsMessage: boolean;
  /** The task that the message continues. */
  readonly taskId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly connection: AgentConnection;
  readonly guard: CredentialGuard;
  readonly retry: RetryOptions;
  /** True if the agent answers a repeated message with the outcome of the first. */
  readonly isIdempotent: boolean;
  readonly runtime: ClientRuntime;
}

/** The progress of an attempt when it failed. */
interface FailedAttempt {
  readonly transport: ClientTransport | undefined;
  readonly credentials: RequestCredentials | undefined;
}

/**
 * Chooses how to recover from a failed call. In order: new credentials, once per interface; each other interface, once;
 * for messages, a retry. No other call is repeated.
 */
export class CallRecovery {
  readonly #options: CallRecoveryOptions;
  readonly #pauses: AttemptPauses;
  #hasRenewed = false;
  #interfaces = 1;
  /** The error of the first interface that was tried, which the agent or the caller prefers. */
  #firstError: unknown;
  #attempts = 1;

  constructor(options: CallRecoveryOptions) {
    this.#options = options;
    this.#pauses = new AttemptPauses(options.runtime);
  }

  /**
   * Resolves if the call should be made again.
   * @throws the error itself if there is no remedy, that of the first interface if all fail, or the reason of the
   * signal.
   */
  async after(error: unknown, { transport, credentials }: FailedAttempt): Promise<void> {
    const { connection, guard, signal } = this.#options;
    if (!this.#hasRenewed && transport !== undefined && credentials !== undefined) {
      this.#hasRenewed = await guard.renews(error, { url: addressOf(transport), signal, credentials });
      if (this.#hasRenewed) return;
    }
    this.#hasRenewed = false;
    const tried = this.#interfaces;
    if (!connection.isOfInterface(transport, error, tried)) {
      this.#interfaces = 1;
      return this.#later(error);
    }
    if (tried === 1) this.#firstError = error;
    if (connection.leave(transport, error, tried)) {
      this.#interfaces += 1;
      return;
    }
    this.#interfaces = 1;
    await this.#later(this.#firstError);
  }

  /** Reports that the call was answered. */
  answered(): void {
    this.#pauses.answered(this.#options.taskId);
  }

  async #later(error: unknown): Promise<void> {
    const { sendsMessage, taskId, retry, isIdempotent, signal, runtime } = this.#options;
    const failed = { error, attempts: this.#attempts, isIdempotent };
    const afterMs = sendsMessage ? waitBeforeResend(failed, retry, runtime.random) : undefined;
    if (afterMs === undefined || !(error instanceof A2AError)) throw error;
    const waitMs = Math.round(afterMs);
    const attempt = this.#attempts;
    this.#attempts += 1;
    runtime.logger.info('sending again', { attempt: this.#attempts, afterMs: waitMs, code: error.code });
    const attempts = retry.attempts ?? ATTEMPTS;
    await this.#pauses.wait({ taskId, attempt, attempts, waitMs, error }, signal);
  }
}
