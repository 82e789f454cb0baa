import type { SignatureOptions, SignatureVerdict } from '../agent-card/signatures/signature-trust.js';
import { SignatureVerifier, type VerifierRuntime } from '../agent-card/signatures/signature-verifier.js';
import type { SignatureOrigin } from '../agent-card/signatures/trusted-keys.js';
import type { ClientCodec } from '../codec/client-codec.js';
import { decodeAgentCard } from '../codec/client-codecs.js';
import { signedCard } from '../codec/signed-card.js';
import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { JsonObject } from '../model/json.js';
import { answersCard, type UnaryOperationName } from '../operations/operations.js';
import type { ClientTransport, TransportCall } from './client-transport.js';

/** A card that has arrived. */
export interface ReceivedCard {
  /** As it was received. */
  readonly document: object;
  /** Undefined for one that was given. */
  readonly url: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A transport that a codec is put into. */
export interface CardTransport {
  readonly codec: ClientCodec;
  readonly transport: (codec: ClientCodec) => ClientTransport;
  /** Of the public card. */
  readonly url: string | undefined;
}

/** Cards of which at least one signature is by a trusted key. What verifies is loaded with this file. */
export class VerifiedCards {
  readonly #verifier: SignatureVerifier;
  readonly #options: SignatureOptions;

  private constructor(verifier: SignatureVerifier, options: SignatureOptions) {
    this.#verifier = verifier;
    this.#options = options;
  }

  /** @throws OptionsError where the options name nobody to trust. */
  static async by(options: SignatureOptions, runtime: VerifierRuntime): Promise<VerifiedCards> {
    return new VerifiedCards(await SignatureVerifier.trusting(options, runtime), options);
  }

  /**
   * A card by what its signatures cover: the rest is as if it were not there.
   * @throws AgentCardError `unverified`, saying of each signature why it is not valid; InvalidAgentResponseError.
   */
  async card({ document, url, signal }: ReceivedCard): Promise<AgentCard> {
    const { covered, verdicts } = await this.#verified(document, { url, signal });
    this.#options.onVerdicts?.(verdicts);
    const last = verdicts.at(-1);
    const card = `agent card${url === undefined ? '' : ` of ${url}`}`;
    if (last === undefined)
      throw new AgentCardError('unverified', `The ${card} is not signed, and a signature is asked for`);
    if (last.fault === undefined && covered !== undefined) return decodeAgentCard(covered);
    throw new AgentCardError(
      'unverified',
      `No signature of the ${card} is valid: ${verdicts.map(reasonOf).join('; ')}`,
    );
  }

  /** A transport whose extended card has to be signed, too, separately (Spec §8.4). */
  transport({ codec, transport, url }: CardTransport): ClientTransport {
    const undecoded: ClientCodec = {
      ...codec,
      // Looked at, so that what is no card is told as such, but handed on as it was received.
      decodeResponse: (operation, value) => {
        const decoded = codec.decodeResponse(operation, value);
        return answersCard(operation) ? (value as typeof decoded) : decoded;
      },
    };
    const inner = transport(undecoded);
    return {
      agentInterface: inner.agentInterface,
      stream: (call) => inner.stream(call),
      call: async <Name extends UnaryOperationName>(call: TransportCall<Name>) => {
        const answer = await inner.call(call);
        if (!answersCard(call.operation)) return answer;
        const card: AgentCard = await this.card({ document: answer as object, url, signal: call.signal });
        return card as typeof answer;
      },
    };
  }

  async #verified(
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
