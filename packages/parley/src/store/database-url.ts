import { OptionsError } from '../errors/options-error.js';
import { printableUrl } from '../telemetry/printable-url.js';

/** The built-in storage that a database url names. */
type DatabaseUrl =
  | { readonly backend: 'memory'; readonly maxTasks?: number; readonly maxBytes?: number }
  | { readonly backend: 'sqlite'; readonly path: string; readonly durability: 'power-loss' | 'process' };

const MEMORY = /^memory:(?:\?(.+))?$/;
const SQLITE = /^sqlite:(?!\/\/[^/]|:memory:)([^?]+)(?:\?durability=(process|power-loss))?$/;
/** Packages that have a backend, by the pattern of its urls. */
const PACKAGES: readonly (readonly [urls: RegExp, name: string])[] = [
  [/^postgres(?:ql)?:\/\//, 'postgres'],
  [/^rediss?:\/\//, 'redis'],
];

/**
 * Parses `memory:`, `memory:?tasks=1000&bytes=67108864`, `sqlite:path` or `sqlite:path?durability=process`.
 * @throws OptionsError for any other url. The error contains the url without its password.
 */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const memory = MEMORY.exec(url);
  const limits = memory === null ? undefined : memoryLimits(memory[1]);
  if (limits !== undefined) return { backend: 'memory', ...limits };
  const [, path, durability] = SQLITE.exec(url) ?? [];
  if (path !== undefined) {
    return { backend: 'sqlite', path, durability: durability === 'process' ? 'process' : 'power-loss' };
  }
  const [, name] = PACKAGES.find(([urls]) => urls.test(url)) ?? [];
  if (name !== undefined) {
    const remedy = `npm install parley-a2a-${name}, and name its ${name}Backend in backends`;
    throw new OptionsError('Database url', [`"${printableUrl(url)}" needs a package: ${remedy}`]);
  }
  throw new OptionsError('Database url', [
    `"${printableUrl(url)}" must be memory:, memory:?tasks=1000&bytes=67108864, sqlite:./data/parley.db, sqlite:./data/parley.db?durability=process, or a url of one of the backends`,
  ]);
}

/**
 * Parses the limits of a storage in memory. Returns `undefined` for an unknown name, or a value that is no whole
 * number.
 */
function memoryLimits(query = ''): { readonly maxTasks?: number; readonly maxBytes?: number } | undefined {
  const limits: { maxTasks?: number; maxBytes?: number } = {};
  for (const pair of query === '' ? [] : query.split('&')) {
    const [, name, digits] = /^(tasks|bytes)=([1-9]\d{0,14})$/.exec(pair) ?? [];
    if (name === undefined) return undefined;
    limits[name === 'tasks' ? 'maxTasks' : 'maxBytes'] = Number(digits);
  }
  return limits;
}
