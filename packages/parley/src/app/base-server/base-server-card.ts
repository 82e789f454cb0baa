import type { AgentCard } from '../../model/agent-card.js';
import { isLegacy } from '../../operations/versions.js';
import { BASE_SERVER_VERSION } from './base-server-calls.js';

/** The members that 0.2.5 writes of a card. A card of a base server has no others. */
interface WrittenCard {
  readonly [name: string]: unknown;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly object[];
}

/**
 * The card of an agent in the form of base servers, with every member. Its url is the JSON-RPC interface of the
 * agent in a version before 1.0, or the base url if there is none.
 */
export function baseServerCard(card: AgentCard, base: string): object {
  const written = JSON.parse(BASE_SERVER_VERSION.encodeCard(card)) as WrittenCard;
  const { defaultInputModes, defaultOutputModes, securitySchemes, security } = written;
  const address = card.supportedInterfaces.find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === 'JSONRPC' && isLegacy(protocolVersion),
  );
  return {
    name: written.name,
    version: written.version,
    description: written.description,
    protocolVersion: written.protocolVersion,
    url: address?.url ?? base,
    defaultInputModes,
    defaultOutputModes,
    capabilities: written.capabilities,
    skills: written.skills.map((skill) => ({
      examples: [],
      inputModes: defaultInputModes,
      outputModes: defaultOutputModes,
      ...skill,
    })),
    provider: written.provider,
    securitySchemes,
    security,
  };
}
