import { createHash } from 'node:crypto';

/** A script for the server, which keeps it under its SHA-1 once it has run. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

/** Makes a script of its text. */
export function redisScript(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}
