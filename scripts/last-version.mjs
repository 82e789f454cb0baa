// Packs what the tests of a rolling update need of the last version: its packages with a storage, and the server of
// test/replicas. The result is in Git, because no registry has it on a machine without network. `npm run release`
// replaces it with the version that it releases. `kysely` among the packages of the repository is a dependency of it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { isMain, main, root, run, runNpm, step } from './processes.mjs';

/** From the root folder. */
export const LAST_VERSION = 'test/last-version/packages.tgz';

const PACKAGES = ['packages/parley', 'packages/postgres', 'packages/redis'];
const PROGRAM = ['replicas/replica-server.mjs', 'support/backends.ts'];
/** Parts of a package that do not run. */
const NOT_RUN = /(?:\.d\.ts|\.md|[\\/]docs|[\\/]types)$/;

/** Replaces the packed version by the one that is checked out. */
export async function keepVersion() {
  await build(PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), 'parley-last-version-'));
  try {
    await step('Packing this version for the tests of the next', () => pack(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pack(folder) {
  const places = PACKAGES.flatMap((name) => ['-w', name]);
  const packed = await runNpm(['pack', ...places, '--pack-destination', folder, '--loglevel=error'], { quiet: true });
  if (packed.code !== 0) return packed;
  const content = join(folder, 'content');
  mkdirSync(content);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
    const unpacked = await run('tar', ['-xzf', join(folder, file), '-C', folder], { quiet: true });
    if (unpacked.code !== 0) return unpacked;
    const place = join(content, 'node_modules', file.replace(/-\d.*$/, ''));
    cpSync(join(folder, 'package'), place, { recursive: true, filter: (path) => !NOT_RUN.test(path) });
    rmSync(join(folder, 'package'), { recursive: true });
  }
  for (const file of PROGRAM) {
    mkdirSync(dirname(join(content, file)), { recursive: true });
    cpSync(join(root, 'test', file), join(content, file));
  }
  writeFileSync(join(content, 'package.json'), '{ "private": true, "type": "module" }\n');
  return run('tar', ['-czf', join(root, LAST_VERSION), '-C', content, '.'], { quiet: true });
}

if (isMain(import.meta.url)) {
  await main(async () => {
    await ensureInstalled();
    await keepVersion();
  });
}
