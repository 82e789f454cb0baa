import { OptionsError } from '../../errors/options-error.js';
import { isObject } from '../../model/json.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';

/** The options of a `ReloadedList`. */
interface ReloadedListOptions<Entry, Result> {
  /** The entries, or a function that returns the current ones. */
  readonly list: readonly Entry[] | (() => readonly Entry[] | Promise<readonly Entry[]>);
  readonly reloadMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of the list in log lines. */
  readonly title: string;
  /** Makes the result of the entries. Throws or rejects for invalid ones. */
  read(entries: readonly Entry[], previous: Result | undefined): Result | Promise<Result>;
}

/**
 * The entries of a list of credentials.
 * @throws OptionsError if they are no list, or if an entry is no object.
 */
export function credentialList<Entry>(title: string, entries: readonly Entry[]): readonly Entry[] {
  if (!Array.isArray(entries)) throw new OptionsError(title, ['needs a list of credentials']);
  const at = entries.findIndex((entry) => !isObject(entry));
  if (at >= 0) throw new OptionsError(title, [`[${at}] must be an object`]);
  return entries;
}

/**
 * A list of credentials that may change while the server runs. A list that cannot be read, or that is invalid, leaves
 * the last valid one in force.
 */
export class ReloadedList<Entry, Result> {
  readonly #options: ReloadedListOptions<Entry, Result>;
  #current: Result | undefined;
  #entries: readonly Entry[] | undefined;
  /** The last change. Changes happen one after the other. */
  #change: Promise<void> | undefined;

  /** @throws the error of `read` for a fixed list that is invalid. */
  constructor(options: ReloadedListOptions<Entry, Result>) {
    this.#options = options;
    const { list } = options;
    if (typeof list === 'function') {
      this.#change = this.#reload(list);
      this.#change.catch(() => {});
      return;
    }
    const result = this.#read(list);
    if (!(result instanceof Promise)) this.#current = result;
    else this.#change = this.#apply(result);
  }

  /** The result for the current entries. `undefined` until the first ones are read. */
  get current(): Result | undefined {
    return this.#current;
  }

  /** Resolves with the result. Rejects if no list could be read yet. */
  async loaded(): Promise<Result> {
    if (this.#current === undefined) await this.#change;
    if (this.#current === undefined) throw new Error(`${this.#options.title}: no credentials could be read yet`);
    return this.#current;
  }

  #read(entries: readonly Entry[]): Result | Promise<Result> {
    return this.#options.read(credentialList(this.#options.title, entries), this.#current);
  }

  async #apply(result: Promise<Result>): Promise<void> {
    this.#current = await result;
  }

  /** Puts other entries in force. Rejects for invalid ones, and changes nothing then. */
  replace(entries: readonly Entry[]): Promise<void> {
    const before = this.#change?.catch(() => {}) ?? Promise.resolve();
    const change = before.then(async () => {
      this.#current = await this.#read(entries);
      this.#entries = entries;
    });
    this.#change = change;
    return change;
  }

  /** Reads the source now, and again after a while. */
  async #reload(source: () => readonly Entry[] | Promise<readonly Entry[]>): Promise<void> {
    const { clock, reloadMs, logger, title } = this.#options;
    try {
      const entries = await source();
      if (entries !== this.#entries) {
        this.#current = await this.#read(entries);
        if (this.#entries !== undefined) logger.info(`${title}: the credentials were read again`);
        this.#entries = entries;
      }
    } catch (error) {
      if (this.#current === undefined) logger.error(`${title}: the credentials cannot be read`, { error });
      else logger.error(`${title}: the credentials cannot be read; the last ones stay in force`, { error });
      throw error;
    } finally {
      // A weak reference, so that the timer does not keep the list in memory. Reloads stop when the authenticator is
      // collected.
      const weak = new WeakRef(this);
      clock.after(reloadMs, () => {
        const list = weak.deref();
        if (list !== undefined) list.#reloadAgain(source);
      });
    }
  }

  #reloadAgain(source: () => readonly Entry[] | Promise<readonly Entry[]>): void {
    const before = this.#change?.catch(() => {}) ?? Promise.resolve();
    this.#change = before.then(() => this.#reload(source));
    this.#change.catch(() => {});
  }
}
