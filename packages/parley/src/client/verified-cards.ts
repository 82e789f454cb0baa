import type { SignatureOptions, SignatureVerdict } from '../agent-card/signatures/signature-trust.js';
import { SignatureVerifier, type VerifierRuntime } from '../agent-card/signatures/signature-verifier.js';
import type { SignatureOrigin } from '../agent-card/signatures/trusted-keys.js';
import { decodeAgentCard } from '../codec/client-codecs.js';
import { signedCard } from '../codec/signed-card.js';
import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { JsonObject } from '../model/json.js';

/** A card that a server sent. */
export interface ReceivedCard {
  /** The JSON of the card, as received. */
  readonly document: object;
  /** URL of the card; undefined if the caller gave the card itself. */
  readonly url: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads cards that have at least one signature of a trusted key. This file loads the code that verifies. */
export class VerifiedCards {
  readonly #verifier: SignatureVerifier;
  readonly #options: SignatureOptions;

  private constructor(verifier: SignatureVerifier, options: SignatureOptions) {
    this.#verifier = verifier;
    this.#options = options;
  }

  /**
   * Makes a reader that trusts the keys of the options.
   * @throws OptionsError if the options name no key to trust.
   */
  static async by(options: SignatureOptions, runtime: VerifierRuntime): Promise<VerifiedCards> {
    return new VerifiedCards(await SignatureVerifier.trusting(options, runtime), options);
  }

  /**
   * Reads a card, without the members that no signature covers. The extended card needs a signature of its own (Spec
   * §8.4).
   * @throws AgentCardError `unverified`, with the fault of each signature; `invalid` if it is no card.
   */
  async card({ document, url, signal }: ReceivedCard): Promise<AgentCard> {
    const { covered, verdicts } = await this.#verify(document, { url, signal });
    this.#options.onVerdicts?.(verdicts);
    const last = verdicts.at(-1);
    const card = `agent card${url === undefined ? '' : ` of ${url}`}`;
    if (last === undefined)
      throw new AgentCardError('unverified', `The ${card} is not signed, but the option signatures requires it`);
    if (last.fault === undefined && covered !== undefined) return decodeAgentCard(covered);
    throw new AgentCardError(
      'unverified',
      `No signature of the ${card} is valid: ${verdicts.map(reasonOf).join('; ')}`,
    );
  }

  async #verify(
    document: object,
    origin: SignatureOrigin,
  ): Promise<{ readonly covered?: JsonObject; readonly verdicts: readonly SignatureVerdict[] }> {
    try {
      const signed = signedCard(document);
      return { covered: signed.covered, verdicts: await this.#verifier.verify(signed, origin) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { verdicts: [{ fault: `the card has no canonical form: ${error.message}` }] };
    }
  }
}

function reasonOf({ kid, alg, fault }: SignatureVerdict, at: number): string {
  const named = [...(kid === undefined ? [] : [`kid ${JSON.stringify(kid)}`]), ...(alg === undefined ? [] : [alg])];
  return `signature ${at + 1}${named.length === 0 ? '' : ` (${named.join(', ')})`}: ${fault}`;
}
