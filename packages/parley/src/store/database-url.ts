import { OptionsError } from '../errors/options-error.js';

/** Where a database url says that everything is to be kept. */
export type DatabaseUrl =
  | { readonly backend: 'memory' }
  | { readonly backend: 'sqlite'; readonly path: string; readonly durability: 'power-loss' | 'process' };

const SQLITE = /^sqlite:(?!\/\/[^/])([^?]+)(?:\?durability=(process|power-loss))?$/;

/**
 * Reads `memory:`, `sqlite:path`, or `sqlite:path?durability=process`.
 * @throws OptionsError naming a url that is none of these, without the password it may have.
 */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  if (url === 'memory:') return { backend: 'memory' };
  const [, path, durability] = SQLITE.exec(url) ?? [];
  if (path !== undefined) {
    return { backend: 'sqlite', path, durability: durability === 'process' ? 'process' : 'power-loss' };
  }
  const shown = url.replace(/\/\/[^/@]*@/, '//***@');
  throw new OptionsError('Database url', [
    `"${shown}" must be memory:, sqlite:./data/parley.db or sqlite:./data/parley.db?durability=process`,
  ]);
}
