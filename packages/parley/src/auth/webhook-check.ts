import { OptionsError } from '../errors/options-error.js';
import { type OptionSchemas, optionObject, text } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { sha256Hex } from '../runtime/sha256.js';
import type { HeaderReader } from './authenticator.js';
import { isSameText } from './same-text.js';
import { JWT_TYPES, jwtCheck } from './tokens/jwt-check.js';
import {
  ASYMMETRIC_ALGORITHMS,
  type JwtRules,
  jwtProblems,
  jwtSchemas,
  keySetSchema,
  type TokenOptions,
  type TokenRuntime,
  tokenProblems,
  tokenSchemas,
} from './tokens/token-options.js';
import { NOTIFICATION_TOKEN } from './webhook-credentials.js';

/** The signature of an agent on its notifications: a JWT. Its keys come from `jwksUrl` or are given as `keys`. */
export interface WebhookSignature
  extends JwtRules,
    Pick<TokenOptions, 'issuer' | 'allow' | 'plainHttp' | 'fetch' | 'logger'> {
  /** URL of the public keys of the agent (RFC 7517 §5). */
  readonly jwksUrl?: string;
  /** The public keys themselves, as a key set. */
  readonly keys?: { readonly keys: readonly object[] };
}

/** The secrets by which a webhook knows its senders. Each one that is given is required. */
export interface WebhookSecrets {
  /** The `token` of the push configurations; several while it changes. */
  readonly token?: string | readonly string[];
  /** The `authentication` of the push configurations. */
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
  readonly signature?: WebhookSignature;
}

const { issuer, allow, plainHttp, fetch, logger } = tokenSchemas;
const signature: OptionSchemas<WebhookSignature> = {
  ...jwtSchemas,
  ...{ issuer, allow, plainHttp, fetch, logger },
  jwksUrl: Type.Optional(text),
  keys: Type.Optional(keySetSchema),
};
const checked = Type.Optional(Type.Unknown());

/** The schemas of WebhookSecrets. Secrets have a check of their own. */
export const webhookSchemas: OptionSchemas<WebhookSecrets> = {
  token: checked,
  authentication: Type.Optional(Type.Union([{ const: null }, optionObject({ scheme: checked, credentials: checked })])),
  signature: Type.Optional(optionObject(signature)),
};

/** The facts of a notification that its signature covers. */
interface SignedFacts {
  readonly body: string;
  /** The id of the notification, in its header. */
  readonly id: string | undefined;
}

/** Some agents leave out the prefix. */
const TOKEN_HEADERS = [NOTIFICATION_TOKEN, 'a2a-notification-token'];
const SIGNATURE_HEADER = 'x-a2a-notification-signature';
/** The claim with the SHA-256 of the body, in hex. */
const BODY_HASH = 'request_body_sha256';
const BEARER = /^bearer +/i;

/** Checks the credentials of notifications. The reasons of refusals hold no secret. */
export class WebhookCheck {
  readonly #secrets: WebhookSecrets;
  readonly #tokens: readonly string[];
  readonly #verify: ReturnType<ReturnType<typeof jwtCheck>> | undefined;

  /** @throws OptionsError for an empty or missing secret, and for a signature whose rules are wrong. */
  constructor(secrets: WebhookSecrets, runtime: TokenRuntime) {
    const { token, authentication, signature } = secrets;
    this.#secrets = secrets;
    this.#tokens = token === undefined ? [] : [token].flat();
    const problems = [
      ...(this.#tokens.every(isText) ? [] : ['token must not be empty']),
      ...(authentication === undefined || [authentication?.scheme, authentication?.credentials].every(isText)
        ? []
        : ['authentication must not be empty']),
    ];
    if (problems.length > 0) throw new OptionsError('PushReceiver', problems);
    this.#verify = signature && verifierOf(signature, runtime);
  }

  /** True if senders need a secret at all. */
  get isClosed(): boolean {
    return this.#tokens.length > 0 || this.#secrets.authentication !== undefined || this.#verify !== undefined;
  }

  /** The value of `WWW-Authenticate` for senders that are refused. */
  get challenge(): string {
    return this.#secrets.authentication?.scheme ?? 'Bearer';
  }

  /** The reason for which a sender is refused before its body is read; undefined if it may go on. */
  async refusal(header: HeaderReader): Promise<string | undefined> {
    const given = TOKEN_HEADERS.map(header).find((value) => value !== undefined);
    if (this.#tokens.length > 0 && !(await isOneOf(given, this.#tokens)))
      return 'X-A2A-Notification-Token is not the token';
    const { authentication } = this.#secrets;
    if (authentication !== undefined && !(await isOneOf(credentialsIn(header), [normalize(authentication)])))
      return 'Authorization does not name the scheme and the credentials';
    return this.#verify !== undefined && this.#signatureIn(header) === undefined ? 'no signature' : undefined;
  }

  /**
   * The reason for which a signature does not fit its notification; undefined if it does, or if none is required.
   * @throws A2AError with the code UNAVAILABLE if the keys cannot be read now.
   */
  async signatureFault(header: HeaderReader, { body, id }: SignedFacts): Promise<string | undefined> {
    if (this.#verify === undefined) return undefined;
    const verdict = await this.#verify(this.#signatureIn(header) ?? '');
    if ('fault' in verdict) return `the signature is not valid: ${verdict.fault}`;
    const { jti, cnf, [BODY_HASH]: hash } = verdict.claims;
    if (cnf !== undefined) return 'the signature is not valid: the token is bound to a key';
    if (id === undefined || jti !== id) return 'the signature is for another notification';
    return hash === (await sha256Hex(body)) ? undefined : 'the signature is for another body';
  }

  /** Some agents send the signature as a Bearer token. */
  #signatureIn(header: HeaderReader): string | undefined {
    const own = header(SIGNATURE_HEADER);
    if (own !== undefined || this.#secrets.authentication !== undefined) return own;
    const credentials = header('authorization');
    return credentials !== undefined && BEARER.test(credentials) ? credentials.replace(BEARER, '') : undefined;
  }
}

/** False also for a value that only a cast makes a string, such as an unset environment variable. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function verifierOf(signature: WebhookSignature, runtime: TokenRuntime) {
  const { jwksUrl, keys } = signature;
  const sources = [jwksUrl, keys].filter((source) => source !== undefined);
  const problems = [
    ...tokenProblems(signature),
    ...jwtProblems(signature, ASYMMETRIC_ALGORITHMS),
    ...(sources.length === 1 ? [] : ['needs one of jwksUrl and keys']),
  ];
  if (problems.length > 0) throw new OptionsError('signature', problems);
  return jwtCheck({
    options: signature,
    runtime,
    source: keys === undefined ? { url: () => jwksUrl ?? '' } : { keys },
    defaults: { algorithms: ASYMMETRIC_ALGORITHMS, types: JWT_TYPES, requiredClaims: ['iat', 'jti', BODY_HASH] },
  })(() => {});
}

/** Scheme and credentials. The case of a scheme does not matter (RFC 9110 §11.1). */
function normalize({ scheme, credentials }: { readonly scheme: string; readonly credentials: string }): string {
  return `${scheme.toLowerCase()} ${credentials}`;
}

function credentialsIn(header: HeaderReader): string | undefined {
  const value = header('authorization') ?? '';
  const end = value.indexOf(' ');
  return end < 1 ? undefined : normalize({ scheme: value.slice(0, end), credentials: value.slice(end).trimStart() });
}

/** Compares hashes, so that the time reveals nothing about the secret. */
async function isOneOf(given: string | undefined, secrets: readonly string[]): Promise<boolean> {
  const hash = await sha256Hex(given ?? '');
  let isEqual = false;
  for (const secret of secrets) isEqual = isSameText(hash, await sha256Hex(secret)) || isEqual;
  return given !== undefined && isEqual;
}
