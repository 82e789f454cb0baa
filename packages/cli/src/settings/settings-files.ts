import { closeSync, fstatSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { FLAG_NAMES, flagOf, variableOf } from '../command-line/flags.js';
import { usageError } from '../failure/cli-error.js';
import type { SettingsLayer } from './settings.js';
import { TrustedFiles } from './trusted-files.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the folder for settings of a user in all projects. */
export function globalFolder(env: Environment): string {
  const { XDG_CONFIG_HOME: named = '', HOME, USERPROFILE } = env;
  if (isAbsolute(named)) return join(named, 'a2a-cli');
  // A relative path would refer to the working directory, which may belong to another user.
  const home = [HOME, USERPROFILE].find((path) => path !== undefined && isAbsolute(path)) ?? userInfo().homedir;
  return join(home, '.config', 'a2a-cli');
}

/** Returns the files that the user has trusted. */
export function trustedFiles(env: Environment): TrustedFiles {
  return new TrustedFiles(join(globalFolder(env), 'trusted.json'));
}

/** The sources of settings. */
interface SettingsPlaces {
  readonly env: Environment;
  /** The file of `--config`, which replaces the local one. */
  readonly named: string | undefined;
  /** The working directory. */
  readonly folder: string;
  /** Called for each ignored file. */
  readonly warn: (text: string) => void;
}

/** Returns the layers below the flags: environment, local or named file, global file. */
export function settingsLayers({ env, named, folder, warn }: SettingsPlaces): SettingsLayer[] {
  const globalPath = join(globalFolder(env), '.env');
  const local = named === undefined ? localLayer({ env, folder, warn, globalPath }) : namedLayer(named, folder);
  const global = layerOf(readSettingsFile(globalPath));
  return [{ source: 'environment', values: env }, local, global].filter((layer) => layer !== undefined);
}

/** Returns the files with secrets that other users of this machine can read. */
export function exposedFiles(layers: readonly SettingsLayer[]): string[] {
  // Windows has neither file modes nor user ids.
  if (process.getuid === undefined) return [];
  const secrets = FLAG_NAMES.filter((name) => flagOf(name).secret === true).map(variableOf);
  const files = layers.filter(({ source, values }) => source !== 'environment' && secrets.some((name) => values[name]));
  return files.map(({ source }) => source).filter((path) => (statSync(path).mode & 0o077) !== 0);
}

/** A file of settings, read once. */
export interface SettingsFile {
  readonly path: string;
  readonly content: Buffer;
  readonly values: Readonly<Record<string, string | undefined>>;
  /** True if the user owns the file, and the link to it if any. */
  readonly isOwn: boolean;
}

/** Finds the nearest `.env`, here or in a parent folder. Files of other users are skipped with a warning. */
export function nearestSettingsFile(folder: string, warn: (text: string) => void): SettingsFile | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = readSettingsFile(join(at, '.env'));
    if (file?.isOwn === true) return file;
    if (file !== undefined) warn(`${file.path} belongs to another user, and is ignored`);
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Reads a file of settings; `undefined` if it is unreadable or not a regular file. A read from a pipe might never end.
 */
export function readSettingsFile(path: string): SettingsFile | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    const file = openSync(path, 'r');
    try {
      const owners = [fstatSync(file).uid, lstatSync(path).uid];
      const content = readFileSync(file);
      const isOwn = process.getuid === undefined || owners.every((owner) => owner === process.getuid?.());
      return { path, content, values: parseEnv(content.toString('utf8')), isOwn };
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

interface LocalPlaces extends Omit<SettingsPlaces, 'named'> {
  readonly globalPath: string;
}

function localLayer({ env, folder, warn, globalPath }: LocalPlaces): SettingsLayer | undefined {
  const file = nearestSettingsFile(folder, warn);
  if (file === undefined || file.path === globalPath) return undefined;
  const trust = trustedFiles(env).trustOf(realpathSync(file.path), file.content);
  return { source: file.path, values: file.values, ...(trust !== 'trusted' && { distrust: trust }) };
}

function namedLayer(path: string, folder: string): SettingsLayer {
  const layer = layerOf(readSettingsFile(resolve(folder, path)));
  if (layer === undefined) throw usageError(`--config ${path}: there is no such file`);
  return layer;
}

function layerOf(file: SettingsFile | undefined): SettingsLayer | undefined {
  return file && { source: file.path, values: file.values };
}
