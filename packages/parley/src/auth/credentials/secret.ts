import { CredentialsError } from '../../errors/credentials-error.js';
import { OptionsError } from '../../errors/options-error.js';
import { kindOf } from '../../model/kind-of.js';
import { ownWait } from './shared-work.js';

/**
 * A secret, or a function that is called for each call. After a refusal it gets the refused secret, so that it can
 * return another one.
 */
export type Secret = string | ((asked: { readonly refused?: string }) => string | Promise<string>);

type Asked = Exclude<Secret, string>;

interface Renewal {
  readonly refused: string;
  readonly renewed: Promise<string>;
  done: boolean;
}

/** Characters that headers, cookies and urls can carry. */
export const VISIBLE = /^[!-~]+$/;
const RULE = 'the secret must be visible characters without blanks';

/** Provides a secret. All calls that were refused with the same secret wait for one renewal. */
export class SecretSource {
  readonly #what: string;
  readonly #secret: Secret;
  /** The last renewal that has not failed. */
  #renewal: Renewal | undefined;

  /** @throws OptionsError if a fixed secret has invalid characters. */
  constructor(what: string, secret: Secret) {
    if (typeof secret !== 'string' && typeof secret !== 'function')
      throw new OptionsError(what, [`takes the secret, not ${kindOf(secret)}. Is its environment variable set?`]);
    if (typeof secret === 'string' && !VISIBLE.test(secret)) throw new OptionsError(what, [RULE]);
    this.#what = what;
    this.#secret = secret;
  }

  async current(signal: AbortSignal | undefined): Promise<string> {
    if (typeof this.#secret === 'string') return this.#secret;
    const renewing = this.#renewal?.done === false ? this.#renewal.renewed : undefined;
    return requireVisible(this.#what, await ownWait(renewing ?? askSecret(this.#secret, {}), signal));
  }

  /** Resolves to true if there is another secret than `refused` now. */
  async renew(refused: string, signal: AbortSignal | undefined): Promise<boolean> {
    if (typeof this.#secret === 'string') return false;
    // Refusals of one secret arrive one after the other, some long after its renewal.
    const renewal = this.#renewal?.refused === refused ? this.#renewal : this.#start(refused, this.#secret);
    return (await ownWait(renewal.renewed, signal)) !== refused;
  }

  #start(refused: string, secret: Asked): Renewal {
    const renewal: Renewal = { refused, renewed: askSecret(secret, { refused }), done: false };
    this.#renewal = renewal;
    renewal.renewed.then(
      (secret) => {
        renewal.done = true;
        if (secret === refused) this.#forget(renewal);
      },
      () => this.#forget(renewal),
    );
    return renewal;
  }

  #forget(renewal: object): void {
    if (this.#renewal === renewal) this.#renewal = undefined;
  }
}

async function askSecret(secret: Asked, about: { readonly refused?: string }): Promise<string> {
  return await secret(about);
}

/** Refuses a secret that headers cannot carry. Errors of hosts about such a header would contain the secret. */
function requireVisible(what: string, secret: string): string {
  if (typeof secret === 'string' && VISIBLE.test(secret)) return secret;
  throw new CredentialsError('missing', `${what}: ${RULE}`);
}
