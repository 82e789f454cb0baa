import type { AgentCard } from '../../model/agent-card.js';
import { isLegacy } from '../../operations/versions.js';
import { BASE_SERVER_VERSION } from './base-server-calls.js';

/** What the version of base servers writes of a card; all else of it has no place in one of theirs. */
interface WrittenCard {
  readonly [name: string]: unknown;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly object[];
}

/**
 * The card of an agent as base servers give it, with every member written out. Its address is where the agent speaks a version of that
 * time over JSON-RPC, all methods in one place; without such an address, the base url.
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
