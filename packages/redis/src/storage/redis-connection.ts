import type { Redis } from 'ioredis';
import { OutageLog, StorageError } from 'parley-a2a/storage-engine';
import { isRefusal } from '../redis-url.js';
import { type RedisClient, RedisClients } from './redis-clients.js';
import { isOutage, isUnknownScript, redisReason, shownReason } from './redis-fault.js';
import { type RedisGuarantees, redisGuarantees, type ServerFacts } from './redis-guarantees.js';
import type { RedisSettings } from './redis-options.js';
import type { RedisScript } from './redis-script.js';

/** An argument of a script or a command. */
type RedisArgument = string | number;

/**
 * The connection of a storage to its server or cluster. Every call has a time limit. A call whose answer was lost is
 * not repeated: it fails, and its script may have run.
 */
export class RedisConnection {
  readonly settings: RedisSettings;
  readonly isCluster: boolean;
  readonly guarantees: RedisGuarantees;
  readonly clients: RedisClients;
  readonly #client: RedisClient;
  readonly #outage: OutageLog;
  #closed = false;
  #running = 0;
  #whenIdle: (() => void) | undefined;

  private constructor(clients: RedisClients, client: RedisClient, guarantees: RedisGuarantees) {
    this.settings = clients.settings;
    this.clients = clients;
    this.#client = client;
    this.guarantees = guarantees;
    this.isCluster = client.isCluster;
    this.#outage = new OutageLog(clients.settings);
  }

  /**
   * Connects, and checks the guarantees of the servers. A server that belongs to a cluster is used as a cluster.
   * @throws StorageError if a server cannot be reached in time, refuses the user, or may lose tasks by eviction.
   */
  static async open(settings: RedisSettings): Promise<RedisConnection> {
    const clients = new RedisClients(settings);
    const client = await openClient(clients);
    try {
      const servers = 'nodes' in client ? client.nodes('master') : [client];
      const guarantees = redisGuarantees(await Promise.all(servers.map(factsOf)), settings);
      for (const warning of guarantees.warnings) settings.logger.warn(warning, { subject: settings.subject });
      return new RedisConnection(clients, client, guarantees);
    } catch (error) {
      client.disconnect();
      if (error instanceof StorageError) throw error;
      throw unusableError(settings, error);
    }
  }

  /**
   * Runs a script on the server that has its keys. All keys must be in one partition, that of the first key. While a
   * cluster moves that partition to another server, the call waits.
   * @throws StorageError if it fails, or does not answer in time.
   */
  async run(script: RedisScript, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown> {
    const all = this.isCluster ? [...keys, ...absentKey(keys[0] ?? '')] : keys;
    return this.call(async (client) => {
      try {
        return await client.evalsha(script.sha, all.length, ...all, ...args);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return client.eval(script.lua, all.length, ...all, ...args);
      }
    });
  }

  /**
   * Runs commands.
   * @throws StorageError if one fails, or an answer does not come in time.
   */
  async call<T>(commands: (client: RedisClient) => Promise<T>): Promise<T> {
    if (this.#closed) throw new StorageError('the storage is closed');
    this.#running += 1;
    const { clock, commandTimeoutMs } = this.settings;
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(commandTimeoutMs, () => late.reject(new Error('Command timed out')));
    try {
      const answer = await Promise.race([commands(this.#client), late.promise]);
      this.#outage.working();
      return answer;
    } catch (error) {
      throw this.#failure(error);
    } finally {
      cancel();
      this.#running -= 1;
      if (this.#running === 0) this.#whenIdle?.();
    }
  }

  /** Closes the connection after the calls in progress. Later calls fail. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const idle = Promise.withResolvers<void>();
    this.#whenIdle = () => idle.resolve();
    const { clock, commandTimeoutMs } = this.settings;
    const cancel = clock.after(commandTimeoutMs, () => idle.resolve());
    if (this.#running > 0) await clock.hold(idle.promise);
    cancel();
    this.#outage.close();
    this.#client.disconnect();
  }

  #failure(error: unknown): StorageError {
    if (error instanceof StorageError) return error;
    const reason = redisReason(error);
    const told = isOutage(error) && !this.#closed;
    if (told) this.#outage.failing(reason);
    return new StorageError(reason, { told, reason: shownReason(error), cause: withoutArguments(error) });
  }
}

/**
 * Returns a key in the partition of another key that never exists. Scripts use keys that they do not declare, and a
 * cluster moves the keys of a slot one by one. While it moves a slot, a server refuses scripts that declare a missing
 * key. So no script reads or writes a part of a partition.
 */
function absentKey(key: string): readonly string[] {
  const end = key.indexOf('}') + 1;
  // A script on a key without a partition uses no other key.
  return end === 0 ? [] : [`${key.slice(0, end)}absent`];
}

/** Connects a client to the servers. */
async function openClient(clients: RedisClients): Promise<RedisClient> {
  const { settings } = clients;
  if (settings.cluster !== true) {
    const single = await connectClient(clients.single({ isTimed: false }), settings);
    const info = settings.cluster === false ? '' : await single.info('cluster').catch(() => '');
    if (!/^cluster_enabled:1/m.test(info)) return single;
    single.disconnect();
  }
  return connectClient(clients.cluster(), settings);
}

/** Reads INFO and CONFIG of a server. Some providers forbid CONFIG. */
async function factsOf(server: Redis): Promise<ServerFacts> {
  const [info, config] = await Promise.all([
    server.info(),
    server.config('GET', 'appendfsync').catch((error: unknown) => {
      if (isRefusal(error)) return [];
      throw error;
    }),
  ]);
  const appendfsync = Array.isArray(config) ? config[1] : undefined;
  return { info, appendfsync: typeof appendfsync === 'string' ? appendfsync : undefined };
}

/** Connects a client within the time limit, or closes it. */
async function connectClient<Client extends RedisClient>(client: Client, settings: RedisSettings): Promise<Client> {
  const { clock, connectTimeoutMs } = settings;
  let last: unknown;
  client.on('error', (error: unknown) => {
    last = error;
  });
  client.on('node error', (error: unknown) => {
    last = error;
  });
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(connectTimeoutMs, () => late.reject(last ?? new Error('no answer in time')));
  try {
    await Promise.race([client.connect(), late.promise]);
    return client;
  } catch (error) {
    client.disconnect();
    throw unusableError(settings, last ?? error);
  } finally {
    cancel();
  }
}

function unusableError({ subject }: RedisSettings, error: unknown): StorageError {
  const reason = redisReason(error);
  return new StorageError(`Redis at ${subject} cannot be used: ${reason}`, { cause: withoutArguments(error) });
}

/** Errors of the driver contain the arguments of their command, which may be a password or the text of a task. */
function withoutArguments(error: unknown): Error {
  const plain = new Error(error instanceof Error ? error.message.slice(0, 200) : 'unknown');
  if (error instanceof Error) plain.name = error.name;
  return plain;
}
