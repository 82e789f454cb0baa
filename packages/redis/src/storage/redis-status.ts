import { stateOfNumber, type TaskState } from 'parley-a2a/storage-engine';
import { RedisConnection } from './redis-connection.js';
import { KEY } from './redis-keys.js';
import { type RedisOptions, redisSettings } from './redis-options.js';
import { REDIS_SCHEMA, schemaText } from './redis-schema.js';
import { type RunCommands, serversOf, walkKeys } from './redis-walk.js';

/** The content of a storage in Redis. */
export interface RedisStatus {
  /** Hosts and ports. */
  readonly database: string;
  /**
   * The version of the keys, and the newest one that this version supports. 0: no server has opened the storage yet.
   */
  readonly schema: number;
  readonly newestSchema: number;
  /** Memory of the servers, including that of other data in them. */
  readonly bytes: number;
  /** Tasks by state; states without any are left out. */
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
}

/**
 * Reads the status of a storage, even while servers use it. Changes nothing. Scans all keys, because no list contains
 * them.
 * @throws OptionsError, or StorageError if the servers cannot be used.
 */
export async function redisStatusOf(options: RedisOptions): Promise<RedisStatus> {
  const connection = await RedisConnection.open(redisSettings(options));
  try {
    const run: RunCommands = (commands) => connection.call(commands);
    const { prefix, subject } = connection.settings;
    const schema = Number((await schemaText(connection)) ?? 0);
    const infos = await Promise.all((await serversOf(run)).map((server) => run(() => server.info('memory'))));
    const bytes = infos.reduce((sum, info) => sum + Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0), 0);
    return { database: subject, schema, newestSchema: REDIS_SCHEMA, bytes, tasks: await tasksByState(run, prefix) };
  } finally {
    await connection.close();
  }
}

async function tasksByState(run: RunCommands, prefix: string): Promise<RedisStatus['tasks']> {
  const counts = new Map<string, readonly [state: number, tasks: number]>();
  for await (const { server, keys } of walkKeys(run, prefix, `{p*}${KEY.state}*`)) {
    const sizes = await run(() => Promise.all(keys.map((key) => server.zcard(key))));
    for (const [at, key] of keys.entries()) {
      // The number of the state is between the kind of the key and its scope.
      const state = Number.parseInt(key.slice(key.indexOf(`}${KEY.state}`) + 1 + KEY.state.length), 10);
      counts.set(key, [state, sizes[at] ?? 0]);
    }
  }
  const tasks: Partial<Record<TaskState, number>> = {};
  for (const [state, count] of counts.values()) {
    const name = stateOfNumber(state);
    if (count > 0) tasks[name] = (tasks[name] ?? 0) + count;
  }
  return tasks;
}
