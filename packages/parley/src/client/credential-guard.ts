import {
  type CredentialProvider,
  type CredentialTarget,
  NO_CREDENTIALS,
  type RequestCredentials,
} from '../auth/credential-provider.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import type { AgentCard } from '../model/agent-card.js';
import type { Logger } from '../telemetry/logger.js';

/** What the guard goes by. */
export interface CredentialGuardOptions {
  /** Undefined: nobody in particular calls. */
  readonly provider: CredentialProvider | undefined;
  readonly card: () => AgentCard;
  /** Urls whose origins may see the credentials. */
  readonly trusted: readonly string[];
  readonly logger: Logger;
}

/** A request that may have been refused for its credentials. */
export interface RefusedRequest {
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  readonly credentials: RequestCredentials;
}

/** Names of headers that carry credentials: `authorization`, `cookie`, `x-api-key` and their like. */
const CREDENTIAL_NAME = /auth|cookie|token|secret|api-?key|credential|session|password/;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Gives credentials to calls, to trusted origins only. */
export class CredentialGuard {
  readonly #options: CredentialGuardOptions;
  readonly #origins: ReadonlySet<string>;

  constructor(options: CredentialGuardOptions) {
    this.#options = options;
    this.#origins = new Set(options.trusted.map(originOf));
  }

  /** Whether nobody in particular calls. */
  get isOpen(): boolean {
    return this.#options.provider === undefined;
  }

  /** What a request to a url carries. */
  async credentials(url: string, signal: AbortSignal | undefined): Promise<RequestCredentials> {
    const { provider, logger } = this.#options;
    if (provider === undefined) return NO_CREDENTIALS;
    if (this.#isTrusted(url)) return provider.credentials(this.#target(url, signal));
    logger.warn('no credentials are sent to an origin that is not trusted', { origin: originOf(url) });
    return NO_CREDENTIALS;
  }

  /** The caller's own headers for a url. Those with the name of a credential go to trusted origins only. */
  allowed(url: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const names = Object.keys(headers);
    const kept = names.filter((name) => !CREDENTIAL_NAME.test(name));
    if (kept.length === names.length || this.#isTrusted(url)) return headers;
    this.#options.logger.warn('no headers with credentials are sent to an origin that is not trusted', {
      origin: originOf(url),
    });
    return Object.fromEntries(kept.map((name) => [name, headers[name] as string]));
  }

  /** Whether a request that was refused is worth another try: the provider has other credentials now. */
  async renews(error: unknown, { url, signal, credentials }: RefusedRequest): Promise<boolean> {
    const { provider } = this.#options;
    const challenges = challengesOf(error);
    if (challenges === undefined || provider?.refused === undefined || !this.#isTrusted(url)) return false;
    return provider.refused(this.#target(url, signal), { credentials, challenges });
  }

  #isTrusted(url: string): boolean {
    return this.#origins.has(originOf(url));
  }

  #target(url: string, signal: AbortSignal | undefined): CredentialTarget {
    return { card: this.#options.card(), url, signal };
  }
}

/** Those of a refusal that other credentials may mend: nobody valid called, or with too narrow a token (RFC 6750 §3.1). */
function challengesOf(error: unknown): readonly string[] | undefined {
  if (error instanceof UnauthenticatedError) return error.challenges;
  if (!(error instanceof PermissionDeniedError)) return undefined;
  return error.challenges.some((challenge) => challenge.includes('insufficient_scope')) ? error.challenges : undefined;
}

/**
 * The origin of a url. The names of this machine for itself are one. An address that is no url, such as one of gRPC,
 * stands for itself.
 */
export function originOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, protocol, hostname, port } = new URL(url);
  return LOOPBACK.test(hostname) ? `${protocol}//localhost:${port}` : origin;
}
