import { createHash } from 'node:crypto';

/** A script, which the server caches under its SHA-1 after the first run. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

/** Makes a script from its text. */
export function redisScript(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}
