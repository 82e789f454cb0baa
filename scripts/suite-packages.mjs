// Packages of a suite that are too many or too large for the repository's own.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm } from './processes.mjs';

/**
 * Installs the packages of a folder, unless its lock file is installed already. False if they could not be had: then it
 * prints what is left out. Scripts of the packages run unless `scripts` is false.
 */
export async function installedBeside(folder, leftOut, { scripts = true } = {}) {
  const stampFile = join(folder, 'node_modules/.parley-installed');
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const stamp = createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return true;
  // Not `npm ci`: it refuses where a registry lacks packages for other platforms.
  const flags = ['--no-save', '--no-audit', '--no-fund', `--ignore-scripts=${!scripts}`, '--loglevel=error'];
  const { code, output } = await runNpm(['install', '--prefix', folder, ...flags], { quiet: true });
  if (code === 0) {
    writeFileSync(stampFile, stamp);
    return true;
  }
  process.stdout.write(`${output}\n${leftOut} left out: its packages could not be had from npm.\n`);
  return false;
}
