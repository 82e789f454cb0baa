import { Cluster, type RedisOptions as DriverOptions, Redis } from 'ioredis';
import type { RedisSettings } from './redis-options.js';

/** A connection of the driver to one server, or to all servers of a cluster. */
export type RedisClient = Redis | Cluster;

type SingleOptions = Omit<DriverOptions, 'replyMapping'>;

/** Maximum delay before the next attempt to connect, in ms. */
const RETRY_MS = 500;

/** Delay in ms before a command is sent to the server of a redirection. */
const REDIRECTION_MS = 20;

/** Makes connections of the driver. A connection opens with `connect()`. */
export class RedisClients {
  readonly settings: RedisSettings;

  constructor(settings: RedisSettings) {
    this.settings = settings;
  }

  /**
   * Makes a connection to one server. With sentinels, it is the primary. `isTimed`: false if the caller limits the time
   * of its commands, because a timer of the driver for each command costs more.
   */
  single({ isTimed = true }: { readonly isTimed?: boolean } = {}): Redis {
    const { places, sentinel, database, tls, commandTimeoutMs } = this.settings;
    const [{ host, port } = { host: 'localhost', port: 6379 }] = places;
    const where: SingleOptions =
      sentinel === undefined
        ? { host, port }
        : { sentinels: [...places], name: sentinel, enableTLSForSentinelMode: tls !== undefined };
    return new Redis({
      ...this.#common(),
      ...(isTimed && { commandTimeout: commandTimeoutMs }),
      ...where,
      db: database,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // Off, because the driver ignores the outcome of its own subscription, and an error would end the process.
      autoResubscribe: false,
      retryStrategy: (times) => Math.min(50 * times, RETRY_MS),
      sentinelRetryStrategy: (times) => Math.min(50 * times, RETRY_MS),
      // The primary has become a replica. A new connection leads to the new primary, if the name or sentinels do.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
  }

  /**
   * Makes a connection to all servers of a cluster. `shardedSubscribers`: for subscriptions to the channels of
   * partitions.
   */
  cluster(more: { readonly shardedSubscribers?: boolean } = {}): Cluster {
    return new Cluster([...this.settings.places], {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: (times) => Math.min(50 * times, RETRY_MS),
      // No retry: a command whose connection closed may have run, and only its caller can decide whether to repeat it.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 50,
      retryDelayOnTryAgain: REDIRECTION_MS,
      // While a slot moves, two servers may redirect a command to each other until both have the new owner.
      retryDelayOnMoved: REDIRECTION_MS,
      maxRedirections: Math.ceil(this.settings.commandTimeoutMs / REDIRECTION_MS),
      slotsRefreshTimeout: this.settings.connectTimeoutMs,
      slotsRefreshInterval: 10_000,
      // Keeps host names, because certificates contain them.
      dnsLookup: (address, callback) => callback(null, address),
      redisOptions: { ...this.#common(), commandTimeout: this.settings.commandTimeoutMs },
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
      // If a server does not answer, the connection is closed, and all its commands fail.
      socketTimeout: commandTimeoutMs,
      disableClientInfo: true,
      protocol: 2,
    } satisfies SingleOptions;
  }
}
