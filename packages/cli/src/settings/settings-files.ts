import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { FLAG_NAMES, flagOf, variableOf } from '../command-line/flags.js';
import { usageError } from '../failure/cli-error.js';
import type { SettingsLayer } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of what is kept for all projects of a user. */
export function globalFolder(env: Environment): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || env.USERPROFILE || '.', '.config');
  return join(base, 'a2a-cli');
}

/** The layers below the flags: environment, local file (or the one named), global file. */
export function settingsLayers(env: Environment, named: string | undefined, folder: string): SettingsLayer[] {
  const local = named === undefined ? nearestFile(folder) : namedFile(named, folder);
  const global = fileAt(join(globalFolder(env), '.env'));
  return [{ source: 'environment', values: env }, local, global].filter((layer) => layer !== undefined);
}

/** Files that hold secrets and that others on this machine can read. */
export function exposedFiles(layers: readonly SettingsLayer[]): string[] {
  const secrets = FLAG_NAMES.filter((name) => flagOf(name).secret === true).map(variableOf);
  const files = layers.filter(({ source, values }) => source !== 'environment' && secrets.some((name) => values[name]));
  return files.map(({ source }) => source).filter((path) => (statSync(path).mode & 0o077) !== 0);
}

/** As git finds its folder: here, or in a folder above. */
function nearestFile(folder: string): SettingsLayer | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const layer = fileAt(join(at, '.env'));
    if (layer !== undefined || dirname(at) === at) return layer;
  }
}

function namedFile(path: string, folder: string): SettingsLayer {
  const layer = fileAt(resolve(folder, path));
  if (layer === undefined) throw usageError(`--config ${path}: there is no such file`);
  return layer;
}

function fileAt(path: string): SettingsLayer | undefined {
  try {
    return { source: path, values: parseEnv(readFileSync(path, 'utf8')) };
  } catch {
    return undefined;
  }
}
