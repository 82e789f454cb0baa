import type { User } from '../../auth/user.js';
import type { ClientBinding } from '../../client/client-transport.js';
import type { AgentCard } from '../../model/agent-card.js';
import { IN_PROCESS } from '../../runtime/in-process.js';

export { IN_PROCESS };

/** The name of the binding in cards and records. */
export const IN_PROCESS_BINDING = 'IN_PROCESS';

/** An agent of a server, and the user who calls it. */
export interface InProcessPlace {
  /** The path of the agent. Default: the only agent. */
  readonly path?: string | undefined;
  /** The user of every call. Absent: the authenticator of the agent finds the user from the credentials. */
  readonly user?: User | undefined;
}

/** A server object that accepts calls of clients in the same process. */
export interface InProcessAgent {
  /**
   * The card of an agent, and the binding that calls it.
   * @throws OptionsError if no agent is under the path.
   */
  readonly [IN_PROCESS]: (place: InProcessPlace) => Promise<InProcessWay>;
}

/** The connection of a client to an agent in its process. */
export interface InProcessWay {
  /** A copy of the card. Its only interface is the one of this process. */
  readonly card: AgentCard;
  readonly binding: ClientBinding;
}
