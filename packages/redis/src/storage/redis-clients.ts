import { Cluster, type RedisOptions as DriverOptions, Redis } from 'ioredis';
import type { RedisSettings } from './redis-options.js';

/** A connection of the driver to one server, or to all servers of a cluster. */
export type RedisClient = Redis | Cluster;

type SingleOptions = Omit<DriverOptions, 'replyMapping'>;

/** Longest pause before the next attempt to connect. */
const RETRY_MS = 500;

/** Pause before a command goes to the server that another one named. */
const REDIRECTION_MS = 20;

/** Makes connections of the driver. A connection opens with `connect()`. */
export class RedisClients {
  readonly settings: RedisSettings;

  constructor(settings: RedisSettings) {
    this.settings = settings;
  }

  /** One server. With sentinels it is the primary that they name. */
  single(): Redis {
    const { places, sentinel, database, tls } = this.settings;
    const [{ host, port } = { host: 'localhost', port: 6379 }] = places;
    const where: SingleOptions =
      sentinel === undefined
        ? { host, port }
        : { sentinels: [...places], name: sentinel, enableTLSForSentinelMode: tls !== undefined };
    return new Redis({
      ...this.#common(),
      ...where,
      db: database,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // The driver subscribes again without a look at the outcome. An error would then end the process.
      autoResubscribe: false,
      retryStrategy: (times) => Math.min(50 * times, RETRY_MS),
      sentinelRetryStrategy: (times) => Math.min(50 * times, RETRY_MS),
      // The primary became a replica. The next connection goes to the new one, where a name or sentinels lead to it.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
  }

  /** All servers of a cluster. `shardedSubscribers`: for subscriptions to the channels of partitions. */
  cluster(more: { readonly shardedSubscribers?: boolean } = {}): Cluster {
    return new Cluster([...this.settings.places], {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: (times) => Math.min(50 * times, RETRY_MS),
      // A command whose connection closed may have run: only its caller knows whether it can be repeated.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 50,
      retryDelayOnTryAgain: REDIRECTION_MS,
      // While a slot changes its server, two servers may send a command to each other until both know the new one.
      retryDelayOnMoved: REDIRECTION_MS,
      maxRedirections: Math.ceil(this.settings.commandTimeoutMs / REDIRECTION_MS),
      slotsRefreshTimeout: this.settings.connectTimeoutMs,
      slotsRefreshInterval: 10_000,
      // Names stay names, so that certificates match them.
      dnsLookup: (address, callback) => callback(null, address),
      redisOptions: this.#common(),
      ...more,
    });
  }

  #common() {
    const { username, password, tls, connectTimeoutMs, commandTimeoutMs } = this.settings;
    return {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls !== undefined && { tls: { ...tls } }),
      lazyConnect: true,
      autoResendUnfulfilledCommands: false,
      connectTimeout: connectTimeoutMs,
      // A silent server: the connection ends, and all commands on it fail.
      socketTimeout: commandTimeoutMs,
      commandTimeout: commandTimeoutMs,
      disableClientInfo: true,
      protocol: 2,
    } satisfies SingleOptions;
  }
}
