import {
  type CredentialProvider,
  type CredentialTarget,
  NO_CREDENTIALS,
  type RequestCredentials,
} from '../auth/credential-provider.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import type { AgentCard } from '../model/agent-card.js';
import type { Logger } from '../telemetry/logger.js';

/** The options of `CredentialGuard`. */
interface CredentialGuardOptions {
  /** Undefined for anonymous calls. */
  readonly provider: CredentialProvider | undefined;
  readonly card: () => AgentCard;
  /** The origins that may get credentials. */
  readonly trusted: ReadonlySet<string>;
  readonly logger: Logger;
}

/** A request that the agent may have refused for its credentials. */
interface ChallengedRequest {
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  readonly credentials: RequestCredentials;
}

/** Matches names of headers that carry credentials, such as `authorization`, `cookie` and `x-api-key`. */
const CREDENTIAL_NAME = /auth|cookie|token|secret|api-?key|credential|session|password/;

const LOCAL = 'localhost';
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Adds credentials to calls, for trusted origins only. */
export class CredentialGuard {
  readonly #options: CredentialGuardOptions;

  constructor(options: CredentialGuardOptions) {
    this.#options = options;
  }

  /** True for anonymous calls. */
  get isOpen(): boolean {
    return this.#options.provider === undefined;
  }

  /** Returns the credentials of a request to a URL. */
  async credentials(url: string, signal: AbortSignal | undefined): Promise<RequestCredentials> {
    const { provider } = this.#options;
    if (provider === undefined) return NO_CREDENTIALS;
    if (this.isTrusted(url)) return provider.credentials(this.#target(url, signal));
    this.#warn(url);
    return NO_CREDENTIALS;
  }

  /** Returns the caller's headers for a URL. Headers named like credentials go to trusted origins only. */
  allowed(url: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const names = Object.keys(headers);
    const kept = names.filter((name) => !CREDENTIAL_NAME.test(name));
    if (kept.length === names.length || this.isTrusted(url)) return headers;
    this.#warn(url);
    return Object.fromEntries(kept.map((name) => [name, headers[name] as string]));
  }

  /** Returns true if the provider has other credentials after a refusal, so that the call may be repeated. */
  async renews(error: unknown, { url, signal, credentials }: ChallengedRequest): Promise<boolean> {
    const { provider } = this.#options;
    const challenges = challengesOf(error);
    if (challenges === undefined || provider?.refused === undefined || !this.isTrusted(url)) return false;
    return provider.refused(this.#target(url, signal), { credentials, challenges });
  }

  #warn(url: string): void {
    this.#options.logger.warn('no credentials are sent to an origin that is not trusted', { origin: originOf(url) });
  }

  /** True if the origin of a URL may get credentials. */
  isTrusted(url: string): boolean {
    return this.#options.trusted.has(originOf(url));
  }

  #target(url: string, signal: AbortSignal | undefined): CredentialTarget {
    return { card: this.#options.card(), url, signal };
  }
}

/**
 * Returns the challenges of a refusal that other credentials may lift. The token is missing or invalid, or its scope is
 * too narrow (RFC 6750 §3.1).
 */
function challengesOf(error: unknown): readonly string[] | undefined {
  if (error instanceof UnauthenticatedError) return error.challenges;
  if (!(error instanceof PermissionDeniedError)) return undefined;
  return error.challenges.some((challenge) => challenge.includes('insufficient_scope')) ? error.challenges : undefined;
}

/**
 * Returns the origin of a URL. All loopback names are one origin. An address that is no URL, such as `host:port` of
 * gRPC, is its own origin.
 */
export function originOf(url: string): string {
  const parsed = URL.parse(url);
  // `URL` takes the host of `host:port` for a scheme, whose origin is opaque.
  if (parsed === null || parsed.origin === 'null') return url;
  const { origin, protocol, port } = parsed;
  const host = hostOf(url);
  return host === LOCAL ? `${protocol}//${host}:${port}` : origin;
}

/** Returns the host of a URL, or of an address of gRPC such as `dns:host:port`. All loopback names are one host. */
export function hostOf(address: string): string | undefined {
  const place = address.replace(/^dns:(?:\/\/\/)?/i, '');
  const host = URL.parse(/^\w+:\/\/./.test(place) ? place : `https://${place}`)?.hostname;
  return host !== undefined && LOOPBACK.test(host) ? LOCAL : host;
}
