import type { AgentCard } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import type { ClientCodec } from './client-codec.js';
import { clientV1_0 } from './v1_0/client-codec.js';

/** The client's half of one version. The JSON of a version may differ between the bindings. */
export interface ClientVersion {
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
 * Decodes a card of any version (Spec §14.2.1). A card that lists its interfaces in the form of 1.0 is of that version,
 * even if its security schemes have the old form.
 * @throws InvalidAgentResponseError naming the fault.
 */
export async function decodeAgentCard(card: unknown): Promise<AgentCard> {
  if (!isOldCard(card) && !hasOldSchemes(card)) return clientV1_0.decodeCard(card);
  const { clientV0_3JsonRpc } = await import('./v0_3/client-codec.js');
  const old = clientV0_3JsonRpc.decodeCard(card);
  if (isOldCard(card)) return old;
  const read = clientV1_0.decodeCard(card);
  return old.securitySchemes === undefined ? read : { ...read, securitySchemes: old.securitySchemes };
}

/** Members of a card that 1.0 does not have. */
const OLD_MEMBERS = ['url', 'protocolVersion', 'preferredTransport', 'additionalInterfaces'];

/** True if a card is of a version before 1.0: it has an address, but not in the form of 1.0. */
export function isOldCard(card: unknown): boolean {
  if (!isObject(card) || (Array.isArray(card.supportedInterfaces) && card.supportedInterfaces.length > 0)) return false;
  return OLD_MEMBERS.some((member) => member in card);
}

/** True if a scheme has only the `type` of old versions. A scheme in both forms is read in the new one. */
function hasOldSchemes(card: unknown): boolean {
  if (!isObject(card) || !isObject(card.securitySchemes)) return false;
  return Object.values(card.securitySchemes).some(
    (scheme) =>
      isObject(scheme) && 'type' in scheme && !Object.keys(scheme).some((name) => /SecurityScheme$/.test(name)),
  );
}
