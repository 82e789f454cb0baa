import type { CardSigningOptions } from '../agent-card/signatures/card-signing-options.js';
import { PROTOCOL_VERSIONS } from '../codec/protocol-versions.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard } from '../model/agent-card.js';
import { answersCard, type UnaryOperationName } from '../operations/operations.js';
import { isLegacy } from '../operations/versions.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import { mapHandler } from '../server/map-handler.js';
import type { RequestHandler } from '../server/request-handler.js';
import { KEY_SET_PATH, type PublishedKeys } from './key-set-extension.js';
import type { SignedCards } from './signed-cards.js';

/** Loads the code and the keys that sign cards, once. Rejects with an OptionsError if a key cannot be used. */
export type LoadSignedCards = () => Promise<SignedCards>;

/**
 * Loads the signing of cards on demand.
 * @throws OptionsError without a public url. Otherwise the `Host` header of a caller could choose the signed addresses.
 */
export function cardSigning(subject: string, options: CardSigningOptions, url: string | undefined): LoadSignedCards {
  if (url === undefined) {
    throw new OptionsError(subject, ['cardSigning: needs url (A2A_PUBLIC_URL), because signed cards name addresses']);
  }
  const cards = new LoadedOnDemand(async () => {
    const { SignedCards } = await import('./signed-cards.js');
    return SignedCards.by(options, `${url.replace(/(?<!\/)\/+$/, '')}${KEY_SET_PATH}`);
  });
  return () => cards.get();
}

/** The public keys of the signatures of cards. */
export function cardKeys(load: LoadSignedCards): PublishedKeys {
  return async () => (await load()).publicKeys;
}

/** The handler with signatures on its extended cards of 1.0. No form is specified for older versions. */
export function signingHandler(handler: RequestHandler, load: LoadSignedCards): RequestHandler {
  const { jsonRpc } = PROTOCOL_VERSIONS['1.0'];
  return mapHandler(handler, (name, method) => {
    if (!answersCard(name)) return method;
    return async (request, context) => {
      const { signatures: _, ...card } = (await method(request, context)) as AgentCard;
      if (isLegacy(context.version)) return card;
      const { signatures } = JSON.parse(await (await load()).sign(jsonRpc.encode(name as UnaryOperationName, card)));
      return { ...card, signatures };
    };
  });
}
