import type * as Jose from 'jose';
import { silentLogger } from '../../telemetry/logger.js';
import { JwtVerifier } from './jwt-verifier.js';
import { KeySet, secretKeys, type TokenKeys } from './key-set.js';
import { RemoteKeys } from './remote-keys.js';
import type { TokenVerdict } from './token-claims.js';
import { TokenDocuments } from './token-documents.js';
import type { JwtRules, TokenOptions, TokenRuntime } from './token-options.js';

/** The source of the keys of tokens. */
export type KeySource =
  /** Public keys (RFC 7517 §5). */
  | { readonly keys: unknown }
  /** A shared secret. */
  | { readonly secret: Uint8Array<ArrayBuffer> }
  /** Finds the url of the keys, each time before they are read. */
  | { readonly url: (documents: TokenDocuments) => string | Promise<string> };

/** Options of `jwtCheck`. */
interface JwtCheckOptions {
  readonly options: TokenOptions & JwtRules;
  readonly runtime: TokenRuntime;
  readonly source: KeySource;
  /** Allowed algorithms, types and required claims, unless the options name others. */
  readonly defaults: Required<Pick<JwtRules, 'algorithms' | 'types' | 'requiredClaims'>>;
}

/** The allowed values of the header `typ` of a JWT that is not explicitly an access token (RFC 7519 §5.1, RFC 9068). */
export const JWT_TYPES = ['', 'jwt', 'at+jwt'];
/** The default tolerance. RFC 7519 §4.1.4 recommends no more than a few minutes. */
const TOLERANCE_SECONDS = 5;

/** The tolerance of rules, with its default. */
export function toleranceOf({ clockToleranceSeconds = TOLERANCE_SECONDS }: JwtRules): number {
  return clockToleranceSeconds;
}

/** Reads documents as the options allow. */
export function tokenDocuments(options: TokenOptions, { clock, fetchAllowing }: TokenRuntime): TokenDocuments {
  const { allow = [], plainHttp = false } = options;
  return new TokenDocuments({ fetch: options.fetch ?? fetchAllowing(allow), clock, plainHttp });
}

/** Makes the check of a JWT. The library for signatures is loaded with the first token. */
export function jwtCheck({
  options,
  runtime,
  source,
  defaults,
}: JwtCheckOptions): (changed: () => void) => (token: string) => Promise<TokenVerdict> {
  return (changed) => {
    const rules = { ...defaults, ...definedRules(options) };
    const documents = tokenDocuments(options, runtime);
    let made: Promise<JwtVerifier> | undefined;
    let ready: JwtVerifier | undefined;
    const make = async (): Promise<JwtVerifier> => {
      const library = await import('jose');
      const keys = keysOf({ options, runtime, source, documents, library, changed });
      const { issuer, audience } = options;
      const toleranceSeconds = toleranceOf(options);
      return new JwtVerifier({ ...rules, library, keys, issuer, audience, toleranceSeconds, clock: runtime.clock });
    };
    const load = async () => {
      made ??= make();
      ready = await made;
      return ready;
    };
    return (token) => (ready === undefined ? load().then((verifier) => verifier.verify(token)) : ready.verify(token));
  };
}

function definedRules({ algorithms, types, requiredClaims }: JwtRules): Partial<JwtCheckOptions['defaults']> {
  return { ...(algorithms && { algorithms }), ...(types && { types }), ...(requiredClaims && { requiredClaims }) };
}

function keysOf({
  options,
  runtime,
  source,
  documents,
  library,
  changed,
}: Omit<JwtCheckOptions, 'defaults'> & {
  readonly documents: TokenDocuments;
  readonly library: typeof Jose;
  readonly changed: () => void;
}): TokenKeys {
  const { clock } = runtime;
  if ('secret' in source) return secretKeys(source.secret);
  if ('keys' in source) return KeySet.read(source.keys, { library, now: clock.now() });
  const { issuer, keyTimes: times = {}, logger = silentLogger } = options;
  const read = async () => documents.read(await source.url(documents));
  return new RemoteKeys({ read, issuer, times, library, clock, logger, changed });
}
