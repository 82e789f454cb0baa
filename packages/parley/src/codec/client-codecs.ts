import type { AgentCard } from '../model/agent-card.js';
import type { ClientCodec } from './client-codec.js';
import { clientV1_0 } from './v1_0/client-codec.js';

/** The client's half of one version, which may write its JSON differently over each binding. */
export interface ClientVersion {
  readonly jsonRpc: ClientCodec;
  readonly httpJson: ClientCodec;
}

/** The versions that clients speak, by `Major.Minor`; old ones are loaded where an agent speaks nothing newer. */
export const CLIENT_VERSIONS: ReadonlyMap<string, () => Promise<ClientVersion>> = new Map([
  ['1.0', async () => ({ jsonRpc: clientV1_0, httpJson: clientV1_0 })],
]);

/**
 * A card of any version (spec §14.2.1). One that lists its interfaces as 1.0 does is of that version, whatever else it has.
 * @throws InvalidAgentResponseError
 */
export async function decodeAgentCard(card: unknown): Promise<AgentCard> {
  return clientV1_0.decodeCard(card);
}
