import { type Logger, StorageError } from 'parley-a2a/storage-engine';
import type { PostgresConnections } from './connections.js';
import type { PostgresPlan } from './postgres-options.js';

interface ServerSettings {
  readonly version: number;
  readonly standby: boolean;
  readonly encoding: string;
  readonly commit: string;
  readonly fsync: string;
  readonly timeoutMs: number;
}

const OLDEST = 130_000;
/** The setting in ms. Its text has a unit, such as 5s. */
export const TIMEOUT_MS = "(extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::integer";

/**
 * Checks that the server provides the guarantees of the storage, and logs a weaker guarantee.
 * @throws StorageError naming the setting to change.
 */
export async function checkServer(connections: PostgresConnections, logger: Logger): Promise<void> {
  const { subject, isPooled } = connections.plan;
  const [settings] = await connections.query<ServerSettings>({
    text: `SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS standby,
      current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS commit,
      current_setting('fsync') AS fsync, ${TIMEOUT_MS} AS "timeoutMs"`,
    repeatable: true,
  });
  const problem = settings && problemOf(settings, connections.plan);
  if (problem !== undefined) throw new StorageError(`PostgreSQL at ${subject}: ${problem}`);
  if (connections.plan.durability === 'power-loss') return;
  const message = 'tasks survive the end of the process, but not a crash of the database server';
  const relaxed = isPooled ? { synchronousCommit: settings?.commit } : {};
  logger.warn(message, { subject, ...relaxed });
}

function problemOf(
  { version, standby, encoding, commit, fsync, timeoutMs }: ServerSettings,
  { durability, isPooled, statementTimeoutMs }: PostgresPlan,
): string | undefined {
  if (version < OLDEST) return `version ${Math.floor(version / 10_000)} is too old: use 13 or newer`;
  if (standby) return 'it is a standby, which takes no writes: connect to the primary server';
  if (encoding !== 'UTF8') return `the database has the encoding ${encoding}: create one with ENCODING 'UTF8'`;
  if (!isPooled && timeoutMs !== statementTimeoutMs)
    return 'a pooler drops the settings of its connections (ignore_startup_parameters): add pooled=transaction to the url';
  if (durability === 'process') return undefined;
  const relax = 'or add ?durability=process to the url';
  if (fsync !== 'on') return `fsync is off, so that tasks do not survive a loss of power: set it on, ${relax}`;
  if (commit === 'off') {
    return `synchronous_commit is off for this user, so that tasks may get lost: set it on with ALTER ROLE, ${relax}`;
  }
  return undefined;
}
