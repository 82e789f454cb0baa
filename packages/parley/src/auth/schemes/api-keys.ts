import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import {
  nonEmpty,
  type OptionSchemas,
  optionObject,
  positive,
  texts,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import { sha256Hex } from '../../runtime/sha256.js';
import { type Logger, silentLogger } from '../../telemetry/logger.js';
import type { Authentication, Authenticator, Credentials, KnownUser } from '../authenticator.js';
import { isSameText } from '../same-text.js';
import { type ApiKey, apiKeyProblems } from './api-key.js';
import { type KeyPlace, keyPlaceSchema, type PlacedKeys, placedKeys } from './key-places.js';
import { type HashedKey, KeyTable, sharedKeyProblems } from './key-table.js';
import { ReloadedList } from './reloaded-list.js';

/** Returns the valid keys. Called again for changes; the same array stands for the same keys. */
export type ApiKeySource = () => readonly ApiKey[] | Promise<readonly ApiKey[]>;

/** Options of `ApiKeys`. */
export interface ApiKeysOptions {
  /**
   * The place of a key in a request: a header, `query` or `cookie` with its name, or `bearer`. Default: the header
   * `X-API-Key`.
   */
  readonly place?: KeyPlace;
  /** The name of the scheme in the card. Default: `apiKey`; `bearer` for a key in that place. */
  readonly schemeName?: string;
  /** The time after which a source of keys is read again. Default 5 s. */
  readonly reloadMs?: number;
  /**
   * The origins of pages that may send a key in a cookie with POST and other changing requests, such as
   * `https://app.example`. Pages of the own origin always may. Default: none.
   */
  readonly trustedOrigins?: readonly string[];
  /** Gets failures to read the source. Default: none. */
  readonly logger?: Logger;
}

const schemas: OptionSchemas<ApiKeysOptions> = {
  place: Type.Optional(keyPlaceSchema),
  schemeName: Type.Optional(nonEmpty),
  reloadMs: Type.Optional(positive),
  trustedOrigins: Type.Optional(texts),
  logger: Type.Optional(withMethod('error')),
};

/** The schema of ApiKeysOptions. */
export const apiKeysSchema = optionObject(schemas);

/** All that makes an `ApiKeys`. */
export interface ApiKeysSetup extends ApiKeysOptions {
  readonly keys: readonly ApiKey[] | ApiKeySource;
  readonly clock: Clock;
  /** The first part of the ids of users. Default `apikey`. */
  readonly issuer?: string;
  /** The subject of errors. */
  readonly title?: string;
}

/** The last key of a connection, and its user in a version of the table. */
interface LastKey {
  readonly key: string;
  readonly version: object;
  readonly user: KnownUser | undefined;
}

const DEFAULT_PLACE: KeyPlace = { location: 'header', name: 'X-API-Key' };

/**
 * Fixed keys in a header, a query parameter, a cookie, or as an HTTP Bearer scheme. Keys are stored as hashes, which
 * are compared in constant time. A wrong or expired key is refused.
 */
export class ApiKeys implements Authenticator {
  readonly challenges: readonly string[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly #setup: ApiKeysSetup;
  readonly #place: PlacedKeys;
  readonly #schemeName: string;
  readonly #keys: ReloadedList<ApiKey, KeyTable>;
  /** By connection, because most clients repeat one key. */
  readonly #last = new WeakMap<object, LastKey>();

  /** @throws OptionsError naming the subjects with an invalid key or hash. */
  constructor(setup: ApiKeysSetup) {
    const { place = DEFAULT_PLACE, keys, trustedOrigins = [] } = setup;
    this.#setup = setup;
    this.#schemeName = setup.schemeName ?? (place === 'bearer' ? 'bearer' : 'apiKey');
    this.#place = placedKeys(place, { trustedOrigins });
    this.challenges = this.#place.challenges;
    this.securitySchemes = { [this.#schemeName]: this.#place.scheme };
    this.#keys = new ReloadedList({
      list: keys,
      reloadMs: setup.reloadMs ?? 5_000,
      clock: setup.clock,
      logger: setup.logger ?? silentLogger,
      title: this.#title,
      read: (list, previous) => this.#tableOf(list, previous),
    });
  }

  /**
   * Replaces all keys. Running streams of removed and changed keys end.
   * @throws OptionsError naming the subjects with an invalid key or hash; the keys are not changed.
   */
  replace(keys: readonly ApiKey[]): Promise<void> {
    return this.#keys.replace(keys);
  }

  authenticate(credentials: Credentials): Authentication | Promise<Authentication> {
    const key = this.#place.read(credentials);
    if (typeof key !== 'string') return key;
    const { connection } = credentials;
    const table = this.#keys.current;
    const last = connection === undefined ? undefined : this.#last.get(connection);
    // Several callers may share a proxy's connection, so the comparison takes constant time.
    if (last !== undefined && last.version === table?.version && isSameText(last.key, key))
      return this.#answer(last.user);
    const sha256 = sha256Hex(key);
    if (table === undefined || typeof sha256 !== 'string') return this.#authenticateLater(sha256);
    const user = table.find(sha256);
    if (connection !== undefined) this.#last.set(connection, { key, version: table.version, user });
    return this.#answer(user);
  }

  async #authenticateLater(sha256: string | Promise<string>): Promise<Authentication> {
    const table = await this.#keys.loaded();
    return this.#answer(table.find(await sha256));
  }

  #answer(known: KnownUser | undefined): Authentication {
    if (known === undefined) return this.#place.wrong;
    const { expiresAt } = known.user;
    return expiresAt !== undefined && expiresAt <= this.#setup.clock.now() ? this.#place.expired : known;
  }

  get #title(): string {
    return this.#setup.title ?? 'ApiKeys';
  }

  #tableOf(keys: readonly ApiKey[], previous: KeyTable | undefined): KeyTable | Promise<KeyTable> {
    const problems = keys.flatMap(apiKeyProblems);
    if (problems.length > 0) throw new OptionsError(this.#title, problems);
    const source = { issuer: this.#setup.issuer ?? 'apikey', schemeName: this.#schemeName };
    const hashed = keys.map(hashedKey);
    const createTable = (all: readonly HashedKey[]) => {
      const shared = sharedKeyProblems(all);
      if (shared.length > 0) throw new OptionsError(this.#title, shared);
      return new KeyTable(all, source, previous);
    };
    return hashed.every(isHashed) ? createTable(hashed) : Promise.all(hashed).then(createTable);
  }
}

function hashedKey(entry: ApiKey): HashedKey | Promise<HashedKey> {
  if ('sha256' in entry) {
    const { sha256, ...owner } = entry;
    return { sha256: sha256.toLowerCase(), owner };
  }
  const { key, ...owner } = entry;
  const sha256 = sha256Hex(key);
  return typeof sha256 === 'string' ? { sha256, owner } : sha256.then((digits) => ({ sha256: digits, owner }));
}

function isHashed(one: HashedKey | Promise<HashedKey>): one is HashedKey {
  return !(one instanceof Promise);
}
