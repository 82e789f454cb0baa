import { A2AError } from '../errors/a2a-error.js';
import { ConnectionError } from '../errors/connection-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { Logger } from '../telemetry/logger.js';
import type { ClientTransport, TransportSource } from './client-transport.js';

/** What a connection is made of. */
export interface AgentConnectionOptions {
  /** At least one, best first. */
  readonly interfaces: readonly AgentInterface[];
  readonly transports: TransportSource;
  readonly logger: Logger;
}

/**
 * The interface in use. Where it cannot be reached, or does not speak its version after all, the next one takes its
 * place for all further calls (Spec §5.2, §4.1); after the last one comes the first again.
 */
export class AgentConnection {
  readonly #options: AgentConnectionOptions;
  #at = 0;
  readonly #transports = new Map<number, Promise<ClientTransport>>();
  /** Those that are there. */
  readonly #ready: ClientTransport[] = [];

  constructor(options: AgentConnectionOptions) {
    this.#options = options;
  }

  /** The interface that the next call goes to. */
  get agentInterface(): AgentInterface {
    return this.#options.interfaces[this.#at] as AgentInterface;
  }

  /** Calls that interface; undefined before the first call of it. */
  get ready(): ClientTransport | undefined {
    return this.#ready[this.#at];
  }

  /** The same, made where it is not there yet. */
  transport(): Promise<ClientTransport> {
    return this.#transport(this.#at);
  }

  /**
   * Takes leave of an interface that failed, where the failure is its own and the call has done nothing. Whether there
   * is another one that the call, which has come to `tried` of them, may go to.
   */
  leave(failed: ClientTransport | undefined, error: unknown, tried: number): boolean {
    const { interfaces, logger } = this.#options;
    if (!isOfInterface(error) || interfaces.length === 1) return false;
    if (this.#ready[this.#at] === failed) this.#at = (this.#at + 1) % interfaces.length;
    if (tried >= interfaces.length) return false;
    const { protocolBinding, protocolVersion } = this.agentInterface;
    logger.warn('calling another interface of the agent', { code: error.code, protocolBinding, protocolVersion });
    return true;
  }

  #transport(at: number): Promise<ClientTransport> {
    const known = this.#transports.get(at);
    if (known !== undefined) return known;
    const made = this.#options.transports(this.#options.interfaces[at] as AgentInterface);
    made.then(
      (transport) => {
        this.#ready[at] = transport;
      },
      // What could not be loaded may be there the next time.
      () => this.#transports.delete(at),
    );
    this.#transports.set(at, made);
    return made;
  }
}

/** Whether the call did nothing and only this interface is to blame. */
function isOfInterface(error: unknown): error is A2AError {
  if (error instanceof ConnectionError) return !error.sent;
  return error instanceof A2AError && error.code === 'VERSION_NOT_SUPPORTED';
}
