import type { Random } from '../../../packages/parley/test/random.js';
import { freePort } from '../../support/servers/free-port.js';
import type { ReplicaLife } from '../checker/history.js';
import type { ChaosDatabase } from './chaos-database.js';
import { DatabaseProxy } from './database-proxy.js';
import { ReplicaProcess } from './replica-process.js';

/** The address in the cards. Requests to it go to a replica. */
export const PUBLIC_URL = 'http://replicas.test';

const STOP_MS = 20_000;

/** One replica: one process at a time, with its own port and its own proxy to the database. */
export class Replica {
  readonly index: number;
  readonly proxy: DatabaseProxy | undefined;
  readonly #settings: { readonly database: string; readonly folder: string; readonly port: number };
  readonly lives: ReplicaProcess[] = [];
  #process: ReplicaProcess | undefined;
  /** False while the balancer skips it. */
  isUp = false;

  constructor(
    index: number,
    proxy: DatabaseProxy | undefined,
    settings: { readonly database: string; readonly folder: string; readonly port: number },
  ) {
    this.index = index;
    this.proxy = proxy;
    this.#settings = settings;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#settings.port}`;
  }

  async start(clockShiftMs = 0): Promise<void> {
    const { database, folder, port } = this.#settings;
    const name = `${this.index}.${this.lives.length}`;
    this.#process = await ReplicaProcess.start({
      name,
      database,
      publicUrl: PUBLIC_URL,
      folder,
      port,
      clockShiftMs,
    });
    this.lives.push(this.#process);
    this.isUp = true;
  }

  async kill(): Promise<void> {
    this.isUp = false;
    this.#process?.signal('SIGKILL');
    await this.#process?.ended;
  }

  /** Stops the replica by SIGTERM. Rejects if it does not end, or ends with an error. */
  async stop(): Promise<void> {
    const stopped = this.#process;
    if (stopped === undefined) return;
    stopped.signal('SIGTERM');
    const late = setTimeout(() => stopped.signal('SIGKILL'), STOP_MS);
    const how = await stopped.ended;
    clearTimeout(late);
    this.isUp = false;
    if (how !== 0 && stopped.life.ownEnd === undefined) {
      throw new Error(`replica ${stopped.name} ended with ${how} instead of 0 on SIGTERM`);
    }
  }

  freeze(): void {
    this.#process?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#process?.signal('SIGCONT');
  }
}

/** All replicas on one database. */
export class Cluster implements AsyncDisposable {
  readonly database: ChaosDatabase;
  readonly replicas: readonly Replica[];
  readonly folder: string;
  readonly #random: Random;

  private constructor(database: ChaosDatabase, replicas: readonly Replica[], folder: string, random: Random) {
    this.database = database;
    this.replicas = replicas;
    this.folder = folder;
    this.#random = random;
  }

  static async start(
    database: ChaosDatabase,
    { count, folder, random }: { readonly count: number; readonly folder: string; readonly random: Random },
  ): Promise<Cluster> {
    const replicas: Replica[] = [];
    for (let index = 0; index < count; index += 1) {
      const proxy = database.port === undefined ? undefined : await DatabaseProxy.open(database.port);
      const url = proxy === undefined ? database.url : database.urlThrough(proxy.port);
      replicas.push(new Replica(index, proxy, { database: url, folder, port: await freePort() }));
    }
    const cluster = new Cluster(database, replicas, folder, random);
    // Replicas may start together on an empty database.
    await Promise.all(replicas.map((replica) => replica.start()));
    return cluster;
  }

  /** Returns a running replica. */
  pick(): Replica {
    return this.#random.pick(this.replicas);
  }

  /** Sends requests like a load balancer: each goes to a random replica that is up. */
  readonly fetch = (url: string, init: RequestInit): Promise<Response> => {
    const up = this.replicas.filter(({ isUp }) => isUp);
    const replica = up[Math.floor(Math.random() * up.length)];
    if (replica === undefined)
      return Promise.reject(new TypeError('no replica is up', { cause: { code: 'ECONNREFUSED' } }));
    return fetch(url.replace(PUBLIC_URL, replica.url), init);
  };

  /** All processes of the run. */
  get lives(): readonly Omit<ReplicaLife, 'stalls'>[] {
    return this.replicas.flatMap(({ lives }) => lives.map(({ life }) => life));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.replicas.map(async (replica) => {
        replica.thaw();
        await replica.kill();
        await replica.proxy?.[Symbol.asyncDispose]();
      }),
    );
  }
}
