import type { CredentialProvider, RequestCredentials } from '../auth/credential-provider.js';
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

/** Where a call goes. */
interface CalledPlace {
  readonly url: string;
  readonly signal: AbortSignal | undefined;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const NOTHING: RequestCredentials = Object.freeze({});

/** Gives credentials to calls: to trusted origins only, and once more where they were refused and there are new ones. */
export class CredentialGuard {
  readonly #options: CredentialGuardOptions;
  readonly #origins: ReadonlySet<string>;

  constructor(options: CredentialGuardOptions) {
    this.#options = options;
    this.#origins = new Set(options.trusted.map(originOf));
  }

  /** Makes a call to a url with what the provider gives. */
  call<T>(place: CalledPlace, attempt: (credentials: RequestCredentials) => Promise<T>): Promise<T> {
    const { provider } = this.#options;
    return provider === undefined ? attempt(NOTHING) : this.#guarded(provider, place, attempt);
  }

  async #guarded<T>(
    provider: CredentialProvider,
    { url, signal }: CalledPlace,
    attempt: (credentials: RequestCredentials) => Promise<T>,
  ): Promise<T> {
    const { card, logger } = this.#options;
    if (!this.#origins.has(originOf(url))) {
      logger.warn('no credentials are sent to an origin that is not trusted', { origin: originOf(url) });
      return attempt(NOTHING);
    }
    const target = { card: card(), url, signal };
    const credentials = await provider.credentials(target);
    try {
      return await attempt(credentials);
    } catch (error) {
      const challenges = challengesOf(error);
      if (challenges === undefined || provider.refused === undefined) throw error;
      if (!(await provider.refused(target, { credentials, challenges }))) throw error;
      return await attempt(await provider.credentials(target));
    }
  }
}

/** Those of a refusal that other credentials may mend: nobody valid called, or with too narrow a token (RFC 6750 §3.1). */
function challengesOf(error: unknown): readonly string[] | undefined {
  if (error instanceof UnauthenticatedError) return error.challenges;
  if (!(error instanceof PermissionDeniedError)) return undefined;
  return error.challenges.some((challenge) => challenge.includes('insufficient_scope')) ? error.challenges : undefined;
}

/** The names of this machine for itself are one. What is no url, such as an address of gRPC, stands for itself. */
function originOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, protocol, hostname, port } = new URL(url);
  return LOOPBACK.test(hostname) ? `${protocol}//localhost:${port}` : origin;
}
