import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { flagOf, variableOf } from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import { CliError, usageError } from '../failure/cli-error.js';
import { CONFIGURABLE_FLAGS } from '../settings/setting-origins.js';
import { nearestSettingsFile, readSettingsFile, type SettingsFile, trustedFiles } from '../settings/settings-files.js';

const REDACTED = '<redacted>';

/** Trusts a file with its current content, and prints that content. */
export async function trust({ args: [path], output }: Invocation): Promise<number> {
  const file = findFile(path);
  if (!file.isOwn) throw new CliError('A2ACLI_ERR_USAGE', `${file.path} belongs to another user`);
  const settings = CONFIGURABLE_FLAGS.flatMap((name) => {
    const value = file.values[variableOf(name)];
    return value ? [{ name: variableOf(name), value: flagOf(name).secret === true ? REDACTED : value }] : [];
  });
  const real = realpathSync(file.path);
  trustedFiles(process.env).trust(real, file.content);
  if (output.json) output.document({ file: real, trusted: true, settings });
  else {
    output.field('Trusted', real);
    for (const { name, value } of settings) output.field(name, value);
    output.note('Any change of the file ends this trust.');
  }
  return 0;
}

/** Removes the trust in a file. */
export async function untrust({ args: [path], output }: Invocation): Promise<number> {
  const real = realPath(path ?? nearest().path);
  if (!trustedFiles(process.env).untrust(real)) throw usageError(`${real} is not trusted`, 'parley config trusted');
  if (output.json) output.document({ file: real, trusted: false });
  else output.field('No longer trusted', real);
  return 0;
}

/** Lists trusted files, and whether their content has changed. */
export async function list({ output }: Invocation): Promise<number> {
  const trusted = trustedFiles(process.env);
  const files = trusted.paths.map((file) => {
    const content = readSettingsFile(file)?.content;
    const state = content === undefined ? 'gone' : trusted.trustOf(file, content);
    return { file, state };
  });
  if (output.json) output.document({ files });
  else {
    for (const { file, state } of files)
      output.field(state === 'trusted' ? 'Trusted' : 'No longer trusted', stateText(file, state));
    if (files.length === 0) output.note('No file is trusted.');
  }
  return 0;
}

function stateText(file: string, state: string): string {
  return state === 'trusted' ? file : `${file} (${state})`;
}

function findFile(path: string | undefined): SettingsFile {
  if (path === undefined) return nearest();
  const file = readSettingsFile(resolve(path));
  if (file === undefined) throw usageError(`${path}: there is no such file`);
  return file;
}

function nearest(): SettingsFile {
  const file = nearestSettingsFile(process.cwd(), () => {});
  if (file === undefined) throw usageError('there is no .env here, nor in a folder above');
  return file;
}

/** Returns the path under which a file was trusted, even if the file was deleted. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
