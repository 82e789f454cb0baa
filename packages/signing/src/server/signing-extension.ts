import type { AgentExtension } from 'parley-a2a';
import {
  type AgentMount,
  type HostEndpoint,
  type HostExtension,
  type HostView,
  jsonAnswer,
  readOnly,
} from 'parley-a2a/binding-kit';
import {
  type AgentPlace,
  type AroundAgent,
  ENCRYPTION_EXTENSION,
  OptionsError,
  SIGNING_EXTENSION,
} from 'parley-a2a/kit';
import type { Clock, IdSource } from 'parley-a2a/server';
import type { ContentSigner } from '../content/content-signer.js';
import type { ContentVerifier } from '../content/content-verifier.js';
import { verifyingHandler } from '../content/message-intake.js';
import type { PartOpener } from '../content/part-encryption.js';
import { EndSigner, endSigningHandler } from '../content/signed-ends.js';
import { signingAgent } from '../content/signing-agent.js';
import type { SigningLibrary } from '../content/signing-library.js';
import type { AnswerKeyRule } from '../content/trusted-peer.js';

/** The signing of one agent. */
interface SigningExtensionOptions {
  /** The path of the agent. Absent: the only agent of the host. */
  readonly path: string | undefined;
  readonly audience: string;
  readonly required: boolean;
  readonly maxAgeMs: number;
  readonly verifier: ContentVerifier;
  /** Absent: answers are not signed. */
  readonly signer: ContentSigner | undefined;
  /** Absent: encryption is off. */
  readonly encryption:
    | { readonly opener: PartOpener; readonly required: boolean; readonly answerKeys: AnswerKeyRule }
    | undefined;
  readonly library: SigningLibrary;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Verifies the signatures of messages to an agent, and signs its answers. */
export class SigningExtension implements HostExtension {
  readonly #options: SigningExtensionOptions;

  constructor(options: SigningExtensionOptions) {
    this.#options = options;
  }

  /**
   * @throws OptionsError if the host has several agents and no path is given: a message for one must not be valid for
   * another.
   */
  endpoints({ mounts }: HostView): readonly HostEndpoint[] {
    const { path } = this.#options;
    const agents = new Set(mounts.map(({ agent }) => agent.id));
    if (path === undefined && agents.size > 1)
      throw new OptionsError('messageSigning', ['needs agent, the path of one of the agents of this server']);
    if (path !== undefined && !mounts.some(this.#serves))
      throw new OptionsError('messageSigning', [`agent names no agent of this server: ${path}`]);
    const keys = this.#publicKeys;
    if (keys.length === 0) return [];
    const exchange = readOnly(async () =>
      jsonAnswer({ status: 200, value: { keys }, headers: { 'cache-control': 'public, max-age=300' } }),
    );
    return mounts.filter(this.#serves).map((mount) => ({
      path: keysPath(mount),
      exchange,
      access: 'open' as const,
      without: ['start' as const],
    }));
  }

  cardExtensions(mount: AgentMount, base: string): readonly AgentExtension[] {
    if (!this.#serves(mount)) return [];
    const { audience, required, encryption } = this.#options;
    const keys = this.#publicKeys.length > 0 ? { jwksUrl: `${base}${keysPath(mount)}` } : {};
    const signing = {
      uri: SIGNING_EXTENSION,
      description: 'Messages and answers have signatures (JWS) in their metadata.',
      required,
      params: { audience, ...keys },
    };
    if (encryption === undefined) return [signing];
    const description = 'Parts may be encrypted (JWE) for the agent, and its answers for the caller.';
    return [signing, { uri: ENCRYPTION_EXTENSION, description, required: encryption.required, params: keys }];
  }

  aroundAgent({ path, hasEngine }: AgentPlace): AroundAgent | undefined {
    const { path: own, signer, encryption, audience, library, clock, ids } = this.#options;
    if (own !== undefined && own !== path) return undefined;
    const ends = signer && { signer, issuer: audience, clock };
    return {
      notifications: ends && new EndSigner(ends),
      handler: (handler) =>
        verifyingHandler(ends && hasEngine ? endSigningHandler(handler, ends) : handler, {
          ...this.#options,
          answerKeys: encryption?.answerKeys ?? 'caller',
          opens:
            encryption &&
            ((message, signers) => encryption.opener.check(message, { signers, required: encryption.required })),
          reads: encryption && ((stored) => encryption.opener.message(stored)),
        }),
      executor: (executor, logger) =>
        signingAgent(executor, {
          answers: signer && { library, signer, issuer: audience, clock, ids, logger },
          opener: encryption?.opener,
        }),
    };
  }

  get #publicKeys(): readonly object[] {
    const { signer, encryption } = this.#options;
    return [...(signer?.publicKeys ?? []), ...(encryption?.opener.publicKeys ?? [])];
  }

  readonly #serves = (mount: AgentMount): boolean =>
    this.#options.path === undefined || this.#options.path === mount.path;
}

function keysPath({ path }: AgentMount): string {
  return `${path === '/' ? '' : path}/signing/jwks.json`;
}
