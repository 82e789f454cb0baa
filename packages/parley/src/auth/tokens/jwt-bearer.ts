import { checkOptions } from '../../options/check-options.js';
import { custom, type OptionSchemas, optionObject, text } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { JWT_TYPES, jwtCheck, type KeySource, toleranceOf } from './jwt-check.js';
import { TokenAuthenticator } from './token-authenticator.js';
import { urlFault } from './token-documents.js';
import {
  ASYMMETRIC_ALGORITHMS,
  type JwtRules,
  jwtProblems,
  jwtSchemas,
  keySetSchema,
  refuseProblems,
  SECRET_ALGORITHMS,
  type TokenOptions,
  type TokenRuntime,
  tokenProblems,
  tokenSchemas,
} from './token-options.js';

/** Options of `JwtBearer`: rules, and one source of keys. */
export interface JwtBearerOptions extends TokenOptions, JwtRules {
  /** URL of the public keys of the issuer (RFC 7517 §5). */
  readonly jwksUrl?: string;
  /** The public keys themselves, as a key set. */
  readonly keys?: { readonly keys: readonly object[] };
  /**
   * A secret that issuer and server share, of at least 32 bytes. Only HMAC algorithms count then, by default `HS256`.
   * Each server with the secret can issue tokens.
   */
  readonly secret?: string | Uint8Array;
}

const schemas: OptionSchemas<JwtBearerOptions> = {
  ...tokenSchemas,
  ...jwtSchemas,
  jwksUrl: Type.Optional(text),
  keys: Type.Optional(keySetSchema),
  secret: Type.Optional(
    custom((value) => typeof value === 'string' || value instanceof Uint8Array, 'must be a text or bytes'),
  ),
};
const jwtBearerSchema = optionObject(schemas);

/** The least bytes of a secret for HS256 (RFC 7518 §3.2). */
const LEAST_SECRET = 32;

/**
 * JSON Web Tokens as an HTTP Bearer scheme (RFC 6750, RFC 7519). The id of a user is `<issuer>|<sub>`. With a secret
 * only HMAC algorithms count, with public keys only asymmetric ones. An HMAC of a public key is therefore never valid.
 */
export class JwtBearer extends TokenAuthenticator {
  /** @throws OptionsError naming every wrong option. */
  constructor(options: JwtBearerOptions, runtime: TokenRuntime) {
    const { secret, schemeName = 'jwt' } = checkOptions({ subject: 'JwtBearer', schema: jwtBearerSchema, options });
    const known = secret === undefined ? ASYMMETRIC_ALGORITHMS : SECRET_ALGORITHMS;
    refuseProblems('JwtBearer', [
      ...tokenProblems(options),
      ...jwtProblems(options, known),
      ...sourceProblems(options),
    ]);
    const algorithms = secret === undefined ? ASYMMETRIC_ALGORITHMS : ['HS256'];
    super({
      options,
      runtime,
      toleranceSeconds: toleranceOf(options),
      securitySchemes: { [schemeName]: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
      check: jwtCheck({
        options,
        runtime,
        source: sourceOf(options),
        defaults: { algorithms, types: JWT_TYPES, requiredClaims: [] },
      }),
    });
  }
}

function sourceOf({ jwksUrl = '', keys, secret }: JwtBearerOptions): KeySource {
  if (secret !== undefined) return { secret: bytesOf(secret) };
  return keys === undefined ? { url: () => jwksUrl } : { keys };
}

function sourceProblems({ jwksUrl, keys, secret, plainHttp = false }: JwtBearerOptions): string[] {
  if ([jwksUrl, keys, secret].filter((source) => source !== undefined).length !== 1)
    return ['needs one of jwksUrl, keys and secret'];
  if (secret !== undefined) {
    if (typeof secret === 'string' && secret.includes('-----BEGIN')) return ['secret must be no key in PEM'];
    return bytesOf(secret).length < LEAST_SECRET ? [`secret must have at least ${LEAST_SECRET} bytes`] : [];
  }
  if (keys !== undefined) return Array.isArray(keys.keys) ? [] : ['keys must be a key set: { keys: [...] }'];
  const fault = urlFault(jwksUrl ?? '', plainHttp);
  return fault === undefined ? [] : [`jwksUrl ${fault}`];
}

function bytesOf(secret: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof secret === 'string' ? new TextEncoder().encode(secret) : new Uint8Array(secret);
}
