import { systemLookup } from '../adapters/node/modules-of-node.js';
import type { ClientBinding, ClientTransport, TransportLimits } from '../client/client-transport.js';
import { hostOf, originOf } from '../client/credential-guard.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { insideOf } from './found-urls.js';

/** The parts of the transport of a further binding. */
interface BoundTransportOptions {
  readonly binding: ClientBinding;
  readonly agentInterface: AgentInterface;
  readonly card: Pick<AgentCard, 'securitySchemes'>;
  readonly caller: Pick<TransportLimits, 'answerBytes' | 'eventBytes' | 'answerItems' | 'turn'>;
  /** The urls that the caller gave. */
  readonly given: readonly string[];
  /** The origins that may get credentials. */
  readonly trusted: Set<string>;
}

/**
 * Makes the transport of an interface of a further binding. Such a binding often needs its own port, so that its origin
 * differs from that of the card. It is therefore trusted on every port of a host that the caller gave.
 */
export async function boundTransport(options: BoundTransportOptions): Promise<ClientTransport> {
  const { binding, agentInterface, card, caller, given, trusted } = options;
  const hosts = new Set(given.map(hostOf));
  const isTrusted = (place: string): boolean => {
    const host = hostOf(place);
    return host !== undefined && hosts.has(host);
  };
  const { answerBytes, eventBytes, answerItems, turn } = caller;
  const { securitySchemes } = card;
  const isInside = insideOf(given, systemLookup());
  const limits = { answerBytes, eventBytes, answerItems, turn, isTrusted, isInside, securitySchemes };
  const transport = await binding.transport(agentInterface, limits);
  const { address } = transport;
  if (address !== undefined && isTrusted(address)) trusted.add(originOf(address));
  return transport;
}
