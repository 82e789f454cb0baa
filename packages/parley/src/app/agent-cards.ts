import { askedVersion } from '../bindings/http/call-context.js';
import type { Exchange } from '../bindings/http/exchange.js';
import { encodeHybridCard } from '../codec/hybrid-card.js';
import { PROTOCOL_VERSIONS, type ProtocolVersionName } from '../codec/protocol-versions.js';
import type { AgentCard } from '../model/agent-card.js';
import { isLegacy, majorMinor } from '../operations/versions.js';
import { agentCardEndpoint } from './agent-card-endpoint.js';
import type { LoadSignedCards } from './card-signing.js';

/** The card of an agent, the versions it is offered in, newest first, and how long it may be kept. */
interface AgentCardsOptions {
  readonly card: AgentCard;
  readonly versions: readonly ProtocolVersionName[];
  /** The time of the last change of the card, in ms since the epoch. */
  readonly modifiedAt: number;
  readonly maxAgeSeconds: number;
  /** Signs the card. Absent: it has no signatures. */
  readonly signing?: LoadSignedCards | undefined;
}

/** A card at its two places. */
export interface AgentCards {
  readonly current: Exchange;
  /** For clients of 0.2. Absent if the agent offers no version before 1.0. */
  readonly old: Exchange | undefined;
}

/**
 * The card in the forms of its versions. A client that asks for 1.0 gets the form of 1.0. If the agent also offers an
 * older version, other clients get one card for both versions. Clients of 1.0 that name no version can read it too.
 */
export function agentCards({ card, versions, signing, ...caching }: AgentCardsOptions): AgentCards {
  const signed = (text: string) => (signing === undefined ? text : async () => (await signing()).sign(text));
  const legacy = versions.filter(isLegacy).map((name) => PROTOCOL_VERSIONS[name].jsonRpc);
  const [newest] = legacy;
  const oldest = legacy.at(-1);
  const old = oldest && agentCardEndpoint({ json: signed(oldest.encodeCard(card)), ...caching });
  const isCurrent = versions.includes('1.0');
  if (newest === undefined || !isCurrent) {
    const { jsonRpc } = PROTOCOL_VERSIONS['1.0'];
    return { current: agentCardEndpoint({ json: signed((newest ?? jsonRpc).encodeCard(card)), ...caching }), old };
  }
  const varied = { ...caching, vary: 'A2A-Version' };
  const current = agentCardEndpoint({ json: signed(PROTOCOL_VERSIONS['1.0'].jsonRpc.encodeCard(card)), ...varied });
  const hybrid = agentCardEndpoint({ json: signed(encodeHybridCard(card, newest)), ...varied });
  return { current: (request) => (majorMinor(askedVersion(request) ?? '') === '1.0' ? current : hybrid)(request), old };
}
