import { StorageError } from 'parley-a2a/storage-engine';
import { RedisConnection } from './redis-connection.js';
import type { RedisSettings } from './redis-options.js';

/** The version of the layout of the keys. A storage without a version has version 1. */
export const REDIS_SCHEMA = 1;

/** Reads the version of a storage as text. `null` if no server has opened it yet. */
export function schemaText(connection: RedisConnection): Promise<string | null> {
  return connection.call((client) => client.get(keyOf(connection)));
}

/**
 * Connects to a storage. Writes its version if there is none.
 * @throws StorageError if the servers cannot be used, and for a newer or unknown version.
 */
export async function openConnection(settings: RedisSettings): Promise<RedisConnection> {
  const connection = await RedisConnection.open(settings);
  try {
    const known = (await schemaText(connection)) ?? (await writeSchema(connection)) ?? String(REDIS_SCHEMA);
    const fault = faultOf(known);
    if (fault === undefined) return connection;
    throw new StorageError(`Redis at ${settings.subject} cannot be used: ${fault}`);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Writes the version. Returns the version that another process has written first, if any. */
function writeSchema(connection: RedisConnection): Promise<string | null> {
  return connection.call((client) => client.set(keyOf(connection), REDIS_SCHEMA, 'NX', 'GET'));
}

function faultOf(known: string): string | undefined {
  if (!/^\d{1,9}$/.test(known))
    return `its schema is unknown (${JSON.stringify(known.slice(0, 40))}): name another prefix`;
  if (Number(known) <= REDIS_SCHEMA) return undefined;
  return `a newer version wrote it (schema ${known}, this version knows ${REDIS_SCHEMA}): run that version or a newer one`;
}

function keyOf({ settings }: RedisConnection): string {
  return `${settings.prefix}{schema}`;
}
