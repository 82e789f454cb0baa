import type { CredentialProvider, RequestCredentials } from '../auth/credential-provider.js';
import { A2AError } from '../errors/a2a-error.js';
import { UnauthenticatedError } from '../errors/standard-errors.js';
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
  async call<T>(
    { url, signal }: { readonly url: string; readonly signal: AbortSignal | undefined },
    attempt: (credentials: RequestCredentials) => Promise<T>,
  ): Promise<T> {
    const { provider, card, logger } = this.#options;
    if (provider === undefined) return attempt(NOTHING);
    if (!this.#origins.has(originOf(url))) {
      logger.warn('no credentials are sent to an origin that is not trusted', { origin: originOf(url) });
      return attempt(NOTHING);
    }
    const target = { card: card(), url, signal };
    const credentials = await provider.credentials(target);
    try {
      return await attempt(credentials);
    } catch (error) {
      if (!(error instanceof A2AError) || error.code !== 'UNAUTHENTICATED' || provider.refused === undefined)
        throw error;
      const challenges = error instanceof UnauthenticatedError ? error.challenges : [];
      if (!(await provider.refused(target, { credentials, challenges }))) throw error;
      return await attempt(await provider.credentials(target));
    }
  }
}

/** The names of this machine for itself are one. */
function originOf(url: string): string {
  const { origin, protocol, hostname, port } = new URL(url);
  return LOOPBACK.test(hostname) ? `${protocol}//localhost:${port}` : origin;
}
