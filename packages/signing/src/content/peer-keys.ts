import type * as Jose from 'jose';
import type { Logger } from 'parley-a2a';
import type { PublicJwk } from 'parley-a2a/client';
import {
  type DocumentFetch,
  KeySet,
  type KeyTimes,
  OptionsError,
  RemoteKeys,
  TokenDocuments,
  type TokenKeys,
  urlFault,
} from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import type { TrustedPeer } from './trusted-peer.js';

/** The ports of signatures. */
export interface SigningRuntime {
  readonly library: typeof Jose;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Fetches key sets, with a check of addresses. */
  readonly fetch: DocumentFetch;
  readonly keyTimes?: KeyTimes | undefined;
}

/** The keys of one peer for a signature. */
export interface FoundKeys {
  readonly peer: TrustedPeer;
  readonly keys: readonly Jose.CryptoKey[];
}

const MOST_PEERS = 1_000;

/** The keys of all trusted peers. A key set is fetched on demand, and again for unknown keys after a pause. */
export class PeerKeys {
  readonly #peers: readonly { readonly peer: TrustedPeer; readonly keys: TokenKeys }[];

  /**
   * `place` names the option of a peer.
   * @throws OptionsError naming every peer whose keys cannot be used.
   */
  constructor(
    subject: string,
    peers: readonly TrustedPeer[],
    runtime: SigningRuntime,
    place = (at: number) => `trust[${at}]`,
  ) {
    const problems = peers.length > MOST_PEERS ? [`trust has more than ${MOST_PEERS} peers`] : [];
    problems.push(...peers.flatMap((peer, at) => problemsOf(peer, peers).map((text) => `${place(at)} ${text}`)));
    if (problems.length > 0) throw new OptionsError(subject, problems);
    this.#peers = peers.map((peer) => ({ peer, keys: keysOf(peer, runtime) }));
  }

  /**
   * The peers that have the key of a header, each with its candidates.
   * @throws A2AError with the code UNAVAILABLE if no peer has it, and a key set cannot be read now.
   */
  async find(header: { readonly alg: string; readonly kid: string }): Promise<readonly FoundKeys[]> {
    const found: FoundKeys[] = [];
    let failure: unknown;
    for (const { peer, keys } of this.#peers) {
      try {
        const candidates = (await keys.find(header, () => true)) as readonly Jose.CryptoKey[];
        if (candidates.length > 0) found.push({ peer, keys: candidates });
      } catch (error) {
        failure ??= error;
      }
    }
    if (found.length === 0 && failure !== undefined) throw failure;
    return found;
  }
}

function keysOf({ id, keys, jwksUrl }: TrustedPeer, runtime: SigningRuntime): TokenKeys {
  const { library, clock, logger, fetch, keyTimes = {} } = runtime;
  if (jwksUrl === undefined) return KeySet.read({ keys: listOf(keys) }, { library, now: clock.now() });
  const documents = new TokenDocuments({ fetch, clock, plainHttp: false });
  const read = () => documents.read(jwksUrl);
  return new RemoteKeys({ read, issuer: id, times: keyTimes, library, clock, logger, changed: () => {} });
}

function listOf(keys: TrustedPeer['keys'] = []): readonly PublicJwk[] {
  return 'length' in keys ? keys : keys.keys;
}

function problemsOf(peer: TrustedPeer, all: readonly TrustedPeer[]): string[] {
  const { id, keys, jwksUrl } = peer;
  if (typeof id !== 'string' || id === '') return ['needs an id'];
  if (all.some((other) => other !== peer && other.id === id)) return [`has the id ${id} of another peer`];
  if ((keys === undefined) === (jwksUrl === undefined)) return ['needs either keys or jwksUrl'];
  if (jwksUrl !== undefined) {
    const fault = urlFault(jwksUrl, false);
    return fault === undefined ? [] : [`jwksUrl ${fault}`];
  }
  if (listOf(keys).length === 0) return ['has no keys'];
  return listOf(keys).flatMap((key, at) => {
    if (typeof key.kid !== 'string' || key.kid === '') return [`keys[${at}] needs a kid, by which signatures name it`];
    return key.kty === 'oct' || 'd' in key ? [`keys[${at}] has to be a public key`] : [];
  });
}
