import { A2AError } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { Logger } from '../telemetry/logger.js';
import type { ClientTransport, TransportSource } from './client-transport.js';

/** The options of `AgentConnection`. */
export interface AgentConnectionOptions {
  /** At least one, in order of preference. */
  readonly interfaces: readonly AgentInterface[];
  readonly transports: TransportSource;
  readonly logger: Logger;
}

/**
 * The interface in use. If it cannot be reached or does not speak its version, all further calls use the next interface
 * (Spec §5.2, §4.1). The first follows the last.
 */
export class AgentConnection {
  readonly #options: AgentConnectionOptions;
  #at = 0;
  /** Transports by the number of their interface, from their first use on. */
  readonly #transports: (ClientTransport | Promise<ClientTransport> | undefined)[] = [];

  constructor(options: AgentConnectionOptions) {
    this.#options = options;
  }

  /** The interface of the next call. */
  get agentInterface(): AgentInterface {
    return this.#options.interfaces[this.#at] as AgentInterface;
  }

  /** The transport of that interface: a promise while it is loaded. */
  get transport(): ClientTransport | Promise<ClientTransport> {
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

  /** Ends the connections that transports keep. A later call opens a new one. */
  close(): void {
    for (const transport of this.#transports.splice(0)) void Promise.resolve(transport).then(closed, () => {});
  }

  /**
   * Moves to the next interface if the failure is that of the interface and the call had no effect. Returns true if the
   * call may be made there. `tried` is the number of interfaces that the call has tried.
   */
  leave(failed: ClientTransport | undefined, error: unknown, tried: number): boolean {
    const { interfaces, logger } = this.#options;
    if (!isOfInterface(error) || interfaces.length === 1) return false;
    if (this.#transports[this.#at] === failed) this.#at = (this.#at + 1) % interfaces.length;
    if (tried >= interfaces.length) return false;
    const { protocolBinding, protocolVersion } = this.agentInterface;
    logger.warn('calling another interface of the agent', { code: error.code, protocolBinding, protocolVersion });
    return true;
  }
}

function closed(transport: ClientTransport | undefined): void {
  transport?.close?.();
}

/** True if the call had no effect and only this interface caused the failure. */
function isOfInterface(error: unknown): error is A2AError {
  if (error instanceof ConnectionError) return !error.sent;
  return error instanceof A2AError && error.code === 'VERSION_NOT_SUPPORTED';
}
