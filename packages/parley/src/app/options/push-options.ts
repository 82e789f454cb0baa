import type { DestinationOptions } from '../../net/destinations.js';
import { custom, eitherOf, flag, func, nonEmpty, optionObject, texts } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { OperatorHeaders } from '../../push/operator-headers.js';
import { areHeaders } from '../../push/push-rules.js';
import type { PushSigningOptions } from '../../push/signing-keys.js';

/** Delivery of push notifications. Times are in ms. */
export interface PushOptions extends DestinationOptions {
  /** Configurations of one task; default 16. */
  readonly maxConfigs?: number;
  /** Longest time for an answer of a webhook; default 15 s. */
  readonly timeoutMs?: number;
  /** Attempts for one event before its configuration is parked; default 10. */
  readonly attempts?: number;
  /** Delay after the first failure, doubled with each further one; default 1 s. */
  readonly firstDelayMs?: number;
  /** Longest delay; default 5 min. */
  readonly maxDelayMs?: number;
  /** Requests under way in all; default 512. One user has at most three quarters of them. */
  readonly inFlight?: number;
  /** Requests under way to one host; default 16. */
  readonly inFlightPerHost?: number;
  /**
   * Headers of notifications. Callers register webhooks, so a function gives a secret, such as the key of a gateway, to
   * the webhooks for which it is. An attempt for which it throws counts as failed. Default: none.
   * @see docs/push.md#headers-of-the-operator
   */
  readonly headers?: OperatorHeaders;
  /**
   * Signs every notification. The public keys are at `/.well-known/jwks.json`. Default: none.
   * @see docs/push.md#signatures
   */
  readonly signature?: PushSigningOptions;
  /**
   * Sends the requests. It has to check addresses by itself, and must not follow redirects. Default: the guarded
   * `fetch` of the library.
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const ALGORITHMS = /^(?:EdDSA|Ed25519|(?:ES|PS|RS)(?:256|384|512))$/;

function isSigningKey(value: unknown): boolean {
  const { d, kid, alg } = Object(value) as Partial<Record<string, unknown>>;
  return [d, kid].every((member) => typeof member === 'string' && member !== '') && ALGORITHMS.test(String(alg));
}

const headers = custom(
  (value) => typeof value === 'function' || areHeaders(value),
  'must be a function, or at most 32 headers that the sender does not set itself',
);
const signingKey = custom(isSigningKey, 'must be a private key in the form of RFC 7517 with kid and an asymmetric alg');
const number = Type.Optional(Type.Integer({ minimum: 1 }));

/** The schema of the option `push`. */
export const pushSchema = eitherOf(
  [
    flag,
    optionObject({
      allow: Type.Optional(texts),
      only: Type.Optional(Type.Array(nonEmpty)),
      maxConfigs: number,
      timeoutMs: number,
      attempts: number,
      firstDelayMs: number,
      maxDelayMs: number,
      inFlight: number,
      inFlightPerHost: number,
      headers: Type.Optional(headers),
      signature: Type.Optional(optionObject({ issuer: nonEmpty, keys: Type.Array(signingKey, { minItems: 1 }) })),
      fetch: Type.Optional(func),
    }),
  ],
  'must be true, false, or an object with allow, only, maxConfigs, timeoutMs, attempts, firstDelayMs, maxDelayMs, inFlight, inFlightPerHost, headers, signature, fetch',
);
