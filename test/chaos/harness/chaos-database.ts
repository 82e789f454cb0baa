import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Random } from '../../../packages/parley/test/random.js';
import { redisScripts } from '../../../packages/redis/src/storage/redis-scripts.js';
import { SmallDisk } from '../../storage-faults/small-disk.js';
import { PgbouncerServer } from '../../support/servers/pgbouncer-server.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from './monotonic.js';

/** The database of a chaos run, with its possible faults. */
export interface ChaosDatabase extends AsyncDisposable {
  readonly backend: string;
  /** Its address, for the harness. */
  readonly url: string;
  /** True for a file of one process. */
  readonly isFile?: true;
  /** The TCP port of its only server. Absent: replicas reach it directly. */
  readonly port?: number;
  /** Faults of this kind of database, by name. Each is repaired when its promise resolves. */
  readonly faults?: Readonly<Record<string, (random: Random) => Promise<void>>>;
  urlThrough(port: number): string;
  /** Requests whose answers can be lost, by the operation. */
  readonly requests?: Readonly<Record<'accept' | 'append' | 'claim', RegExp>>;
  kill?(): Promise<void>;
  startAgain?(): Promise<void>;
  freeze?(): void;
  thaw?(): void;
  /** Fills the disk or the memory. Absent if that is not possible. */
  fill?(): Promise<void>;
  free?(): Promise<void>;
}

/** A SQLite file: one replica, and no special faults. */
export function sqliteDatabase(folder: string): ChaosDatabase {
  const url = `sqlite:${join(folder, 'tasks.db')}`;
  return {
    backend: 'sqlite',
    isFile: true,
    url,
    urlThrough: () => url,
    [Symbol.asyncDispose]: () => rm(join(folder, 'tasks.db'), { force: true }),
  };
}

const DISK_MEGABYTES = 600;
/** Few WAL files, so that a full disk has an effect soon. */
const POSTGRES_SETTINGS = ['max_wal_size=48MB', 'min_wal_size=32MB', 'max_connections=200'];
const STARTING_MS = 20_000;

/** A way to use a PostgreSQL. */
type PostgresUse =
  /** Partitions of each large table. */
  | { readonly partitions: number; readonly pooled?: never }
  /** True if the replicas reach it through a pooler of transactions. */
  | { readonly pooled: boolean; readonly partitions?: never };

/** A PostgreSQL server. For root it has its own disk, which can be filled. */
export async function postgresDatabase({
  partitions = 1,
  pooled = false,
}: Partial<PostgresUse> = {}): Promise<ChaosDatabase> {
  const disk = SmallDisk.missing === undefined ? SmallDisk.of(DISK_MEGABYTES) : undefined;
  const server = await (disk === undefined
    ? PostgresServer.start(...POSTGRES_SETTINGS)
    : PostgresServer.startIn(disk.path, ...POSTGRES_SETTINGS));
  const url = `${await server.newDatabase()}${partitions === 1 ? '' : `?partitions=${partitions}`}`;
  const pooler = pooled ? await PgbouncerServer.start(server.port) : undefined;
  const kill = () => server.kill();
  const startAgain = () => server.startAgain();
  return {
    backend: 'postgres',
    url,
    port: pooler?.port ?? server.port,
    urlThrough: (port) =>
      `${url.replace(`:${server.port}/`, `:${port}/`)}${pooler === undefined ? '' : '?pooled=transaction'}`,
    requests: {
      accept: /create-tasks|add-turn/,
      append: /append-records|write-append/,
      claim: /claim-turns|COMMIT/,
    },
    kill,
    startAgain,
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    ...(disk && {
      fill: async () => disk.fill(),
      free: async () => {
        disk.free();
        // The server ends if it cannot write its WAL, as in production. There a supervisor restarts it.
        const answers = () => server.isRunning && isAnswering(url);
        await until(answers, { limitMs: 5_000, what: () => 'away' }).catch(async () => {
          await kill();
          await startAgain();
        });
        await until(() => isAnswering(url), { limitMs: STARTING_MS, what: () => 'PostgreSQL does not answer' });
      },
    }),
    async [Symbol.asyncDispose]() {
      await pooler?.[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      disk?.[Symbol.dispose]();
    },
  };
}

async function isAnswering(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000, query_timeout: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The server forces each write to the disk, and evicts nothing. */
export const REDIS_SETTINGS = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

/** A Redis server that keeps its writes after a kill. It is full at its memory limit. */
export async function redisDatabase(): Promise<ChaosDatabase> {
  const server = await RedisServer.start(...REDIS_SETTINGS);
  const { change, claim } = redisScripts().one;
  const configure = async (maxmemory: string) => {
    const client = new Redis(server.url, { lazyConnect: true });
    await client.config('SET', 'maxmemory', maxmemory);
    client.disconnect();
  };
  return {
    backend: 'redis',
    url: server.url,
    port: server.port,
    urlThrough: (port) => server.url.replace(`:${server.port}`, `:${port}`),
    requests: {
      // Only an accepted message adds a turn.
      accept: /\r\nadded\r\n/,
      append: new RegExp(`${change.sha}(?![^]*\r\nadded\r\n)`),
      claim: new RegExp(claim.sha),
    },
    kill: () => server.kill(),
    startAgain: () => server.startAgain(),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    fill: () => configure('1mb'),
    free: () => configure('0'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
