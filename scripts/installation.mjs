// Installs the versions of package-lock.json.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ownNode, root, run, runNpm, step } from './processes.mjs';

const lockFile = join(root, 'package-lock.json');
const installedFile = join(root, 'node_modules/.package-lock.json');
const stampFile = join(root, 'node_modules/.parley-installed');

/**
 * Installs if needed: with a clean `npm ci`, and a working Node.js of the repository. With a `workspace`, it installs
 * only the packages of this project and of its needs.
 */
export async function ensureInstalled(workspace) {
  const all = stampOf(readFileSync(lockFile));
  const stamp = workspace === undefined ? all : `${all} ${workspace}`;
  if (existsSync(ownNode) && [all, stamp].includes(readText(stampFile))) return;
  if (!matchesLock()) {
    const part = workspace === undefined ? [] : [`--workspace=${workspace}`, '--include-workspace-root=false'];
    const flags = [...part, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    await step('Installing packages', () => runNpm(['ci', ...flags], { quiet: true }));
  }
  if (!(await ownNodeRuns())) {
    // The package sets itself up in its install script, and npm may be configured to skip scripts.
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

/** True if the same versions are installed already. */
function matchesLock() {
  const installed = readText(installedFile);
  if (installed === undefined) return false;
  const present = JSON.parse(installed).packages;
  return Object.entries(JSON.parse(readFileSync(lockFile, 'utf8')).packages).every(([path, wanted]) => {
    if (!path.startsWith('node_modules/')) return true;
    const found = present[path];
    // npm leaves out packages for other platforms.
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
