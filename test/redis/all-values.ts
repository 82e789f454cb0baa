import { Redis } from 'ioredis';

/** The command that reads a whole value, by its type. */
const READS: Readonly<Record<string, (client: Redis, key: string) => Promise<unknown>>> = {
  string: (client, key) => client.get(key),
  hash: (client, key) => client.hgetall(key),
  list: (client, key) => client.lrange(key, 0, -1),
  set: (client, key) => client.smembers(key),
  zset: (client, key) => client.call('ZRANGE', key, '0', '-1', 'WITHSCORES'),
  stream: (client, key) => client.xrange(key, '-', '+'),
};

/** The names and values of all keys. */
export async function allValues(url: string): Promise<string> {
  const client = new Redis(url);
  try {
    const keys = await client.keys('*');
    const texts = keys.map(async (key) => {
      const type = await client.type(key);
      // The key may have expired since the scan.
      if (type === 'none') return '';
      const read = READS[type];
      if (read === undefined) throw new Error(`The search cannot read a ${type}`);
      return `${key} ${JSON.stringify(await read(client, key))}`;
    });
    return (await Promise.all(texts)).join('\n');
  } finally {
    client.disconnect();
  }
}
