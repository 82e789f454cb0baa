import type { Redis } from 'ioredis';
import type { RedisClient } from './redis-clients.js';

/** Runs commands other than scripts. */
export type RunCommands = <T>(commands: (client: RedisClient) => Promise<T>) => Promise<T>;

/** Keys of one server. */
interface WalkedKeys {
  readonly server: Redis;
  readonly keys: readonly string[];
}

/** Number of keys that one command scans. */
const SCANNED = 1_000;

/** Scans the keys of all servers with a prefix, followed by `pattern`. A scan may return a key twice. */
export async function* walkKeys(run: RunCommands, beginning: string, pattern = '*'): AsyncGenerator<WalkedKeys> {
  const match = `${beginning.replace(/[*?[\]\\^-]/g, '\\$&')}${pattern}`;
  for (const server of await serversOf(run)) {
    let cursor = '0';
    do {
      const [next, keys] = await run(() => server.scan(cursor, 'MATCH', match, 'COUNT', SCANNED));
      cursor = next;
      if (keys.length > 0) yield { server, keys };
    } while (cursor !== '0');
  }
}

/** Returns the servers that accept writes. */
export function serversOf(run: RunCommands): Promise<readonly Redis[]> {
  return run(async (client): Promise<readonly Redis[]> => ('nodes' in client ? client.nodes('master') : [client]));
}
