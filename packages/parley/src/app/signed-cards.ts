import { CardSigner } from '../agent-card/signatures/card-signer.js';
import type { CardSigningOptions } from '../agent-card/signatures/card-signing-options.js';
import { signedCard } from '../codec/signed-card.js';

/** Signs the cards of a host. */
export class SignedCards {
  readonly #signer: CardSigner;

  private constructor(signer: CardSigner) {
    this.#signer = signer;
  }

  /** @throws OptionsError naming every key that cannot be used. */
  static async by(options: CardSigningOptions, jwksUrl: string): Promise<SignedCards> {
    return new SignedCards(await CardSigner.of(options, jwksUrl));
  }

  /** The public keys, those of earlier signatures included. */
  get publicKeys(): readonly object[] {
    return this.#signer.publicKeys;
  }

  /**
   * A card with its signatures. They cover the form of its version (Spec §8.4): a card for clients of several versions
   * is signed as a card of 1.0. Official SDKs verify a form without empty values. If it differs, it is signed too.
   */
  async sign(json: string): Promise<string> {
    const document = JSON.parse(json) as object;
    const signatures = await this.#signer.sign(signedCard(document).payloads);
    return JSON.stringify({ ...document, signatures });
  }
}
