import { OptionsError } from '../errors/options-error.js';
import { shownUrl } from '../telemetry/shown-url.js';

/** The storage that a database url names. */
export type DatabaseUrl =
  | { readonly backend: 'memory'; readonly maxTasks?: number; readonly maxBytes?: number }
  | { readonly backend: 'sqlite'; readonly path: string; readonly durability: 'power-loss' | 'process' }
  | { readonly backend: 'postgres'; readonly url: string }
  | { readonly backend: 'redis'; readonly url: string };

const MEMORY = /^memory:(?:\?(.+))?$/;
const SQLITE = /^sqlite:(?!\/\/[^/]|:memory:)([^?]+)(?:\?durability=(process|power-loss))?$/;

/**
 * Reads `memory:`, `memory:?tasks=1000&bytes=67108864`, `sqlite:path`, `sqlite:path?durability=process`, or a url of
 * PostgreSQL or Redis.
 * @throws OptionsError naming a url that is none of these, without the password it may have.
 */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const memory = MEMORY.exec(url);
  const limits = memory === null ? undefined : memoryLimits(memory[1]);
  if (limits !== undefined) return { backend: 'memory', ...limits };
  const [, path, durability] = SQLITE.exec(url) ?? [];
  if (path !== undefined) {
    return { backend: 'sqlite', path, durability: durability === 'process' ? 'process' : 'power-loss' };
  }
  // The storage reads the rest of the url, and names what is wrong with it.
  if (/^postgres(?:ql)?:\/\//.test(url)) return { backend: 'postgres', url };
  if (/^rediss?:\/\//.test(url)) return { backend: 'redis', url };
  throw new OptionsError('Database url', [
    `"${shownUrl(url)}" must be memory:, memory:?tasks=1000&bytes=67108864, sqlite:./data/parley.db, sqlite:./data/parley.db?durability=process, postgres://localhost/parley or redis://localhost:6379`,
  ]);
}

/** The limits of a storage in memory; `undefined` if they are not two known whole numbers at most. */
function memoryLimits(query = ''): { readonly maxTasks?: number; readonly maxBytes?: number } | undefined {
  const limits: { maxTasks?: number; maxBytes?: number } = {};
  for (const pair of query === '' ? [] : query.split('&')) {
    const [, name, digits] = /^(tasks|bytes)=([1-9]\d{0,14})$/.exec(pair) ?? [];
    if (name === undefined) return undefined;
    limits[name === 'tasks' ? 'maxTasks' : 'maxBytes'] = Number(digits);
  }
  return limits;
}
