import type * as OAuth from 'oauth4webapi';
import { boundedFetch } from '../../net/bounded-fetch.js';
import { silentLogger } from '../../telemetry/logger.js';
import { clientAuthentication } from '../oauth/client-authentication.js';
import type { OAuthClientAuthentication } from '../oauth/oauth-options.js';
import { tokenDocuments } from './jwt-check.js';
import { reasonOf, unavailable } from './remote-keys.js';
import type { TokenClaims, TokenVerdict } from './token-claims.js';
import type { TokenOptions, TokenRuntime } from './token-options.js';

/** The server as a client of the introspection endpoint. */
export interface IntrospectionOptions {
  readonly clientId: string;
  /** Sent as HTTP Basic. Absent: `authentication` decides. */
  readonly clientSecret?: string;
  readonly authentication?: OAuthClientAuthentication;
  /** Absent: the metadata of the issuer names it. */
  readonly endpoint?: string;
}

/** Options of `introspectionCheck`. */
interface IntrospectionCheckOptions {
  readonly options: TokenOptions;
  readonly introspection: IntrospectionOptions;
  /** The `aud` that an answer must have. Absent: any, because answers need none (RFC 7662 §2.2). */
  readonly audience: readonly string[] | undefined;
  /** The locations of the metadata of the issuer. */
  readonly metadataUrls: readonly string[];
  readonly runtime: TokenRuntime;
}

const ANSWER = { bytes: 64 * 1024, ms: 5_000 };
/** Maximum number of concurrent requests, because each unknown token causes one. */
const MOST_REQUESTS = 100;
const BEARER_TYPE = /^(?:bearer|access_token)$/i;

/**
 * Makes a check that asks the authorization server about each token (RFC 7662). The check rejects with an A2AError of
 * the code UNAVAILABLE if the server cannot be asked, or refuses the question.
 */
export function introspectionCheck(setup: IntrospectionCheckOptions): () => (token: string) => Promise<TokenVerdict> {
  const { options, runtime, audience } = setup;
  const { issuer, logger = silentLogger } = options;
  const asked = introspector(setup);
  let requests = 0;
  return () => async (token) => {
    if (requests >= MOST_REQUESTS) throw unavailable(`${issuer} has too many tokens to check now`);
    requests += 1;
    try {
      const answer = await asked(token);
      const fault = faultOf(answer, { issuer, audience, now: runtime.clock.now() / 1000 });
      return fault === undefined ? { claims: answer } : { fault };
    } catch (error) {
      logger.warn('A token cannot be checked by introspection', { issuer, error: reasonOf(error) });
      throw unavailable(`${issuer} cannot be asked now`);
    } finally {
      requests -= 1;
    }
  };
}

function introspector({
  options,
  introspection,
  metadataUrls,
  runtime,
}: IntrospectionCheckOptions): (token: string) => Promise<OAuth.IntrospectionResponse> {
  const { issuer, allow = [], plainHttp = false } = options;
  const send = boundedFetch(options.fetch ?? runtime.fetchAllowing(allow), { clock: runtime.clock, ...ANSWER });
  const documents = tokenDocuments(options, runtime);
  let endpoint: Promise<string> | undefined;
  const find = async (): Promise<string> => {
    const metadata = await documents.metadata(issuer, metadataUrls);
    return documents.endpoint(metadata.introspection_endpoint, 'introspection_endpoint');
  };
  return async (token) => {
    const library = await import('oauth4webapi');
    endpoint ??= introspection.endpoint === undefined ? find() : Promise.resolve(introspection.endpoint);
    const url = await endpoint.catch((error: unknown) => {
      endpoint = undefined;
      throw error;
    });
    const server = { issuer, introspection_endpoint: url };
    const client = { client_id: introspection.clientId };
    const response = await library.introspectionRequest(
      server,
      client,
      clientAuthentication(library, introspection, ['client_secret_basic']),
      token,
      {
        [library.customFetch]: send,
        [library.allowInsecureRequests]: plainHttp || new URL(url).protocol === 'http:',
        additionalParameters: { token_type_hint: 'access_token' },
      },
    );
    return await library.processIntrospectionResponse(server, client, response);
  };
}

/** The fault of a token by the answer about it. */
function faultOf(
  answer: TokenClaims & { readonly active: boolean },
  {
    issuer,
    audience,
    now,
  }: { readonly issuer: string; readonly audience: readonly string[] | undefined; readonly now: number },
): string | undefined {
  const { active, iss, aud, exp, nbf, token_type: type } = answer;
  if (!active) return 'the token is not active';
  if (iss !== undefined && iss !== issuer) return 'the token is of another issuer';
  // Refresh tokens are active too (RFC 7662 §2.2).
  if (type !== undefined && !(typeof type === 'string' && BEARER_TYPE.test(type)))
    return 'the token is no bearer token';
  // A token with an unreadable expiry must not become one that never expires.
  if (!isTime(exp) || !isTime(nbf)) return 'a time of the token is no number';
  if (exp !== undefined && exp <= now) return 'the token has expired';
  if (nbf !== undefined && nbf > now + 5) return 'the token is not valid yet';
  const named = Array.isArray(aud) ? (aud as unknown[]) : [aud];
  return audience === undefined || audience.some((one) => named.includes(one)) ? undefined : 'the token is for others';
}

/** True for a time in seconds, and for none (RFC 7662 §2.2). */
function isTime(value: unknown): value is number | undefined {
  return value === undefined || typeof value === 'number';
}
