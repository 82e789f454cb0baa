import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { Replica, type ReplicaOptions } from './replica.js';

/** A database server that can be killed and frozen. */
export interface DatabaseServer {
  readonly url: string;
  startAgain(): Promise<void>;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Starts a server. `settings` are those of its kind, and come last. */
type StartServer = (...settings: string[]) => Promise<DatabaseServer & AsyncDisposable>;

/** Each backend with the way to start its server. */
export const BACKENDS: Readonly<Record<string, StartServer>> = {
  PostgreSQL: (...settings) => PostgresServer.start(...settings),
  Redis: (...settings) => RedisServer.start(...DURABLE, ...settings),
};

/** The backends of tests of what stands above storages: this one, in the long form all of them. */
export function backendsFrom(first: string): readonly string[] {
  return process.env.TEST_LONG === undefined ? [first] : Object.keys(BACKENDS);
}

/** A database server, which is started when it is needed, and replicas on it. */
export class Cluster implements AsyncDisposable {
  readonly #start: StartServer;
  readonly #settings: readonly string[];
  readonly #replicas = new Set<Replica>();
  #server: Promise<DatabaseServer & AsyncDisposable> | undefined;

  constructor(backend: string, ...settings: string[]) {
    const start = BACKENDS[backend];
    if (start === undefined) throw new Error(`${backend} is no backend`);
    this.#start = start;
    this.#settings = settings;
  }

  get server(): Promise<DatabaseServer & AsyncDisposable> {
    this.#server ??= this.#start(...this.#settings);
    return this.#server;
  }

  async boot(options: ReplicaOptions = {}): Promise<Replica> {
    const replica = await Replica.start((await this.server).url, options);
    this.#replicas.add(replica);
    return replica;
  }

  /** Replicas with the same options. They start at the same time. */
  boots(count: number, options: ReplicaOptions = {}): Promise<readonly Replica[]> {
    return Promise.all(Array.from({ length: count }, () => this.boot(options)));
  }

  /** Ends all replicas, as a crash does. */
  async clear(): Promise<void> {
    await Promise.all([...this.#replicas].map((replica) => replica[Symbol.asyncDispose]()));
    this.#replicas.clear();
  }

  /** Ends all, and starts another server when one is needed. */
  async renew(): Promise<void> {
    await this[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
    await (await this.#server)?.[Symbol.asyncDispose]();
  }
}
