// Sees to it that what is installed is what package-lock.json says.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ownNode, root, run, runNpm, step } from './processes.mjs';

const lockFile = join(root, 'package-lock.json');
const installedFile = join(root, 'node_modules/.package-lock.json');
const stampFile = join(root, 'node_modules/.parley-installed');

/** Installs where needed: with a clean `npm ci`, and the repository's own Node.js in working order. */
export async function ensureInstalled() {
  const stamp = stampOf(readFileSync(lockFile));
  if (existsSync(ownNode) && readText(stampFile) === stamp) return;
  if (!matchesLock()) {
    const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    await step('Installing packages', () => runNpm(['ci', ...flags], { quiet: true }));
  }
  if (!(await ownNodeRuns())) {
    // The package sets itself up in its install script, which npm may have been told not to run.
    const flags = ['--ignore-scripts=false', '--foreground-scripts', '--loglevel=error'];
    await step("Setting up the repository's Node.js", () => runNpm(['rebuild', 'node', ...flags], { quiet: true }));
    if (!(await ownNodeRuns())) throw new CommandFailed(`${ownNode} does not run`);
  }
  writeFileSync(stampFile, stamp);
}

async function ownNodeRuns() {
  if (!existsSync(ownNode)) return false;
  try {
    return (await run(ownNode, ['--version'], { quiet: true })).code === 0;
  } catch {
    return false;
  }
}

/** Whether somebody has installed the same versions already, with npm itself. */
function matchesLock() {
  const installed = readText(installedFile);
  if (installed === undefined) return false;
  const present = JSON.parse(installed).packages;
  return Object.entries(JSON.parse(readFileSync(lockFile, 'utf8')).packages).every(([path, wanted]) => {
    if (!path.startsWith('node_modules/')) return true;
    const found = present[path];
    // Packages for other platforms are left out by npm.
    if (found === undefined) return wanted.optional === true;
    return wanted.link === true || found.version === wanted.version;
  });
}

function stampOf(lock) {
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
