import type { AgentCard } from '../model/agent-card.js';
import type { ClientCodec } from './client-codec.js';
import { clientV1_0 } from './v1_0/client-codec.js';

/** The client codecs of one version. The JSON of a version may differ between the bindings. */
interface ClientVersion {
  readonly jsonRpc: ClientCodec;
  readonly httpJson: ClientCodec;
}

/** The versions that clients speak, by `Major.Minor`. Old versions are loaded on demand. */
export const CLIENT_VERSIONS: ReadonlyMap<string, () => Promise<ClientVersion>> = new Map([
  ['1.0', async () => ({ jsonRpc: clientV1_0, httpJson: clientV1_0 })],
  ['0.3', version0_3],
  // Some implementations give their build of 0.3 this number.
  ['0.4', version0_3],
  ['0.2', version0_2],
]);

async function version0_3(): Promise<ClientVersion> {
  const { clientV0_3JsonRpc, clientV0_3HttpJson } = await import('./v0_3/client-codec.js');
  return { jsonRpc: clientV0_3JsonRpc, httpJson: clientV0_3HttpJson };
}

async function version0_2(): Promise<ClientVersion> {
  const { clientV0_2_5JsonRpc, clientV0_2_5HttpJson } = await import('./v0_2_5/client-codec.js');
  return { jsonRpc: clientV0_2_5JsonRpc, httpJson: clientV0_2_5HttpJson };
}

/**
 * Reads a card of any version, tolerantly. The code for that is loaded on demand.
 * @throws AgentCardError `invalid` if the value is no card.
 */
export async function decodeAgentCard(card: unknown): Promise<AgentCard> {
  const { readReceivedCard } = await import('./received-card.js');
  return readReceivedCard(card);
}
