import { Redis } from 'ioredis';
import pg from 'pg';
import type { Backend } from './cluster-options.js';

/** Figures of a database since its start. */
export interface DatabaseFigures {
  /** Written to the log that makes commits durable: WAL, or the append-only file. */
  readonly logBytes: number;
  /** Whole pages in the log, which PostgreSQL writes at the first change of a page after a checkpoint. */
  readonly pageImages: number;
  /** Stored on disk (PostgreSQL), or in memory without the buffers of connections (Redis). */
  readonly storedBytes: number;
  /** Statements, or commands from clients. */
  readonly statements: number;
  /** Transactions that ended in a commit. Redis has none beside its commands. */
  readonly commits: number;
}

/** Reads the figures of a database. */
export interface CostReader extends AsyncDisposable {
  read(): Promise<DatabaseFigures>;
}

/** Connects to the database of a run. */
export async function costReader(backend: Backend, url: string): Promise<CostReader> {
  return backend === 'postgres' ? postgresReader(url) : redisReader(url);
}

const POSTGRES = `
  SELECT (SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')) AS "logBytes",
    (SELECT wal_fpi FROM pg_stat_wal) AS "pageImages",
    pg_database_size(current_database()) AS "storedBytes",
    (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND query NOT LIKE '%pg_stat_statements%') AS statements,
    (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits`;

async function postgresReader(url: string): Promise<CostReader> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  return {
    read: async () => {
      const { rows } = await client.query<Record<keyof DatabaseFigures, string>>(POSTGRES);
      const [row] = rows;
      const number = (name: keyof DatabaseFigures) => Number(row?.[name] ?? 0);
      return {
        logBytes: number('logBytes'),
        pageImages: number('pageImages'),
        storedBytes: number('storedBytes'),
        statements: number('statements'),
        commits: number('commits'),
      };
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function redisReader(url: string): Promise<CostReader> {
  const client = new Redis(url);
  return {
    read: async () => {
      const [info, commands] = await Promise.all([client.info(), client.info('commandstats')]);
      const number = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
      // Commands inside of a script count too. One call of a script is one round trip.
      const calls = Array.from(commands.matchAll(/^cmdstat_(?:evalsha|eval|fcall)[^:]*:calls=(\d+)/gm), ([, n]) =>
        Number(n),
      );
      const scripts = calls.reduce((sum, one) => sum + one, 0);
      return {
        logBytes: number('aof_current_size'),
        pageImages: 0,
        storedBytes: number('used_memory_dataset'),
        statements: scripts,
        commits: scripts,
      };
    },
    [Symbol.asyncDispose]: async () => client.disconnect(),
  };
}

/** The difference of two readings, each divided by a number of events or tasks. */
export function costEach(before: DatabaseFigures, after: DatabaseFigures, count: number): DatabaseFigures {
  const each = (name: keyof DatabaseFigures) => (after[name] - before[name]) / count;
  return {
    logBytes: each('logBytes'),
    pageImages: each('pageImages'),
    storedBytes: each('storedBytes'),
    statements: each('statements'),
    commits: each('commits'),
  };
}
