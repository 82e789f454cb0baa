import { type Clock, type IdSource, type Logger, OptionsError } from 'parley-a2a/storage-engine';
import { parseRedisUrl, type RedisPlace, type RedisUrl, shownPlaces } from '../redis-url.js';

/** TLS of connections to Redis. Certificates and keys are PEM. */
export interface RedisTlsOptions {
  /** The authorities that sign the certificates of the servers. Default: those of the host. */
  readonly ca?: string;
  /** The certificate of this client, with `key`. */
  readonly cert?: string;
  readonly key?: string;
  /** The name in the certificate of the server, if it is not that of the url. */
  readonly servername?: string;
}

/** Options of a storage in Redis or Valkey. */
export interface RedisOptions {
  /**
   * `redis://user:password@host:6379/0`; `rediss://` with TLS. Nodes of a cluster are separated by commas, or stand in
   * several urls. The settings `cluster`, `sentinel`, `prefix` and `durability` may follow a `?`.
   */
  readonly url: string | readonly string[];
  /** The user of the server. Default: that of the url. */
  readonly username?: string;
  /** The password of the user. Default: that of the url. */
  readonly password?: string;
  /** True for a Redis Cluster. Default: the server says it. */
  readonly cluster?: boolean;
  /** The name of the primary. The urls are then those of sentinels. Default: none. */
  readonly sentinel?: string;
  /** Certificates as texts. `rediss://` alone is enough for a certificate that the host trusts. Default: none. */
  readonly tls?: RedisTlsOptions;
  /** The beginning of all keys and channels. Default `parley:`. */
  readonly prefix?: string;
  /** Longest wait for a connection, in ms. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Longest wait for an answer, in ms. Default 5,000. */
  readonly commandTimeoutMs?: number;
  /**
   * The loss that a committed write survives, for a server that forbids CONFIG and so does not say it. Default: asked
   * from the server, and `process` if it does not say it.
   */
  readonly durability?: 'power-loss' | 'process';
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'random'>;
  /** Gets lost and restored connections. Default: warnings to standard error. */
  readonly logger: Logger;
}

/** Options of a storage in Redis with all defaults. */
export interface RedisSettings extends Required<Omit<RedisOptions, OptionalOption | 'url'>>, Partial<Chosen> {
  readonly places: readonly RedisPlace[];
  readonly database: number;
  /** TLS of every connection; absent: none. */
  readonly tls?: RedisTlsOptions;
  /** The servers for display, without credentials. */
  readonly subject: string;
}

type OptionalOption = 'username' | 'password' | 'cluster' | 'sentinel' | 'tls' | 'durability';
type Chosen = Pick<Required<RedisOptions>, Exclude<OptionalOption, 'tls'>>;

const DURABILITIES = ['power-loss', 'process'] as const;

/**
 * Checks the options and parses their urls.
 * @throws OptionsError naming every invalid option, without a password.
 */
export function redisSettings(options: RedisOptions): RedisSettings {
  const texts = [options.url ?? ''].flat();
  const problems: string[] = [];
  const urls = texts.map(parseRedisUrl).filter((url) => url !== undefined);
  const [first] = urls;
  if (first === undefined || urls.length < texts.length) {
    throw new OptionsError('Storage in Redis', ['url: must be like redis://user:password@localhost:6379/0']);
  }
  const fromUrl = urlSettings(first, problems);
  const username = options.username ?? first.username;
  const password = options.password ?? first.password;
  const cluster = options.cluster ?? fromUrl.cluster;
  const sentinel = options.sentinel ?? fromUrl.sentinel;
  const durability = options.durability ?? fromUrl.durability;
  const tls = options.tls ?? (first.tls ? {} : undefined);
  const settings = {
    clock: options.clock,
    ids: options.ids,
    logger: options.logger,
    places: urls.flatMap(({ places }) => places),
    database: first.database,
    prefix: options.prefix ?? fromUrl.prefix ?? 'parley:',
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    commandTimeoutMs: options.commandTimeoutMs ?? 5_000,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(cluster !== undefined && { cluster }),
    ...(sentinel !== undefined && { sentinel }),
    ...(durability !== undefined && { durability }),
    ...(tls !== undefined && { tls }),
    subject: shownPlaces(urls.flatMap(({ places }) => places)),
  };
  problems.push(...problemsOf(settings));
  if (problems.length > 0) throw new OptionsError('Storage in Redis', problems);
  return settings;
}

function problemsOf(settings: RedisSettings): string[] {
  const { prefix, connectTimeoutMs, commandTimeoutMs, cluster, sentinel, database } = settings;
  const problems: string[] = [];
  // Braces would move all keys to one slot of a cluster.
  if (prefix === '' || /[{}]/.test(prefix)) problems.push('prefix: must be a text without braces');
  if (!(connectTimeoutMs > 0)) problems.push('connectTimeoutMs: must be a positive number');
  if (!(commandTimeoutMs > 0)) problems.push('commandTimeoutMs: must be a positive number');
  if (cluster === true && sentinel !== undefined) problems.push('sentinel: a cluster has no sentinels');
  if (cluster === true && database !== 0) problems.push('url: a cluster has only the database 0');
  return problems;
}

type UrlSettings = Pick<RedisOptions, 'cluster' | 'sentinel' | 'prefix' | 'durability'>;

/** Returns the settings after the `?` of a url. */
function urlSettings({ settings }: RedisUrl, problems: string[]): UrlSettings {
  const { cluster, sentinel, prefix, durability, ...unknown } = Object.fromEntries(settings);
  // Hides the name, because it may be a part of a password with a `?`.
  if (Object.keys(unknown).length > 0)
    problems.push('url: has a setting that is not known. Known: cluster, sentinel, prefix, durability');
  const known = DURABILITIES.find((name) => name === durability);
  if (durability !== undefined && known === undefined) problems.push('durability: must be power-loss or process');
  if (cluster !== undefined && !/^(true|false)$/.test(cluster)) problems.push('cluster: must be true or false');
  return {
    ...(cluster !== undefined && { cluster: cluster === 'true' }),
    ...(sentinel !== undefined && { sentinel }),
    ...(prefix !== undefined && { prefix }),
    ...(known !== undefined && { durability: known }),
  };
}
