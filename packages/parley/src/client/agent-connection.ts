import { A2AError, type ErrorCode } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { Logger } from '../telemetry/logger.js';
import { type ClientTransport, MissingOperationError, type TransportSource } from './client-transport.js';

/** The options of `AgentConnection`. */
interface AgentConnectionOptions {
  /** At least one, in order of preference. */
  readonly interfaces: readonly AgentInterface[];
  readonly transports: TransportSource;
  readonly logger: Logger;
}

/**
 * The interface in use. If it cannot be reached or is not served as its card says, all further calls use the next
 * interface (Spec §5.2, §4.1). The first follows the last.
 */
export class AgentConnection {
  readonly #options: AgentConnectionOptions;
  #at = 0;
  #isClosed = false;
  /** Transports by the number of their interface, from their first use on. */
  readonly #transports: (ClientTransport | Promise<ClientTransport> | undefined)[] = [];
  readonly #answered = new WeakSet<ClientTransport>();

  constructor(options: AgentConnectionOptions) {
    this.#options = options;
  }

  /** The interface of the next call. */
  get agentInterface(): AgentInterface {
    return this.#options.interfaces[this.#at] as AgentInterface;
  }

  /**
   * The transport of that interface: a promise while it is loaded.
   * @throws ConnectionError after `close`.
   */
  get transport(): ClientTransport | Promise<ClientTransport> {
    this.requireOpen();
    const at = this.#at;
    const transports = this.#transports;
    transports[at] ??= this.#options.transports(this.agentInterface).then(
      (transport) => {
        transports[at] = transport;
        return transport;
      },
      (error: unknown) => {
        // The next call tries again to load it.
        transports[at] = undefined;
        throw error;
      },
    );
    return transports[at];
  }

  /** True after `close`. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws ConnectionError after `close`. */
  requireOpen(): void {
    if (this.#isClosed) throw closedError();
  }

  /** Ends the connections that transports keep. No call opens another one. */
  close(): void {
    this.#isClosed = true;
    for (const transport of this.#transports.splice(0)) void Promise.resolve(transport).then(closeTransport, () => {});
  }

  /** Reports that a call has succeeded. The agent serves the interface, so that later errors are its answers. */
  answered(transport: ClientTransport): void {
    this.#answered.add(transport);
  }

  /**
   * True if the call had no effect and only this interface caused the failure. `tried` is the number of interfaces that
   * the call has tried.
   */
  isOfInterface(failed: ClientTransport | undefined, error: unknown, tried: number): error is A2AError {
    if (!(error instanceof A2AError)) return false;
    if (error instanceof ConnectionError) return !error.sent && !error.isFinal;
    // The call came here from another interface, which may serve the operation.
    if (error instanceof MissingOperationError) return tried > 1;
    if (error.code === 'VERSION_NOT_SUPPORTED') return true;
    return NOT_SERVED.has(error.code) && failed !== undefined && !this.#answered.has(failed);
  }

  /** Moves to the next interface. Returns true if the call has not tried it yet. */
  leave(failed: ClientTransport | undefined, { code }: A2AError, tried: number): boolean {
    const { interfaces, logger } = this.#options;
    if (interfaces.length === 1) return false;
    if (this.#transports[this.#at] === failed) this.#at = (this.#at + 1) % interfaces.length;
    if (tried >= interfaces.length) return false;
    const { protocolBinding, protocolVersion } = this.agentInterface;
    logger.warn('calling another interface of the agent', { code, protocolBinding, protocolVersion });
    return true;
  }
}

/** Errors of an interface that the agent does not serve, unless it has answered before. */
const NOT_SERVED: ReadonlySet<ErrorCode> = new Set(['METHOD_NOT_FOUND', 'METHOD_NOT_ALLOWED']);

/** The error of calls and streams of a closed client. */
export function closedError(): ConnectionError {
  return new ConnectionError('The client is closed', { sent: false, isFinal: true });
}

function closeTransport(transport: ClientTransport | undefined): void {
  transport?.close?.();
}
