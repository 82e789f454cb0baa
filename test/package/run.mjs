// Packs all packages, installs the core in an empty project, and checks it there as users get it. Tools come from npm
// into .cache/ the first time. The last line is `N passed, N failed`. Without a registry the suite is left out and says
// so, unless CI is set.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram } from '../../scripts/debian-package.mjs';
import { root, runNpm } from '../../scripts/processes.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';
import { publishedFolders } from '../../scripts/workspaces.mjs';
import { oldestNode } from '../oldest-node/oldest-node.mjs';

class LeftOut extends Error {}

const folder = mkdtempSync(join(tmpdir(), 'parley-package-'));
/** Programs of the long form: databases of created projects, and what a page uses. */
const programs = {
  curl: ['curl', '--version'],
  lsof: ['lsof', '-v'],
  postgresql: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'],
  'redis-server': ['redis-server', '--version'],
};
let counts;
try {
  for (const [debianPackage, command] of process.env.TEST_LONG === undefined ? [] : Object.entries(programs)) {
    const leftOut = 'The tests of created projects in the long form are';
    if (!(await hasProgram({ command, debianPackage, leftOut }))) throw new LeftOut(`${debianPackage} is missing.`);
  }
  const suite = { ...(await packed()), tools: await tools(), oldestNode: await oldNode() };
  const config = ['--config', join(root, 'test/package/vitest.config.mjs'), ...process.argv.slice(2)];
  counts = await runVitest(config, { PACKAGE_SUITE: JSON.stringify(suite) });
} catch (error) {
  if (!(error instanceof LeftOut)) throw error;
  process.stdout.write(
    `${error.message}\nThe suite of the package is left out: npm could not install what it needs.\n`,
  );
  counts = { passed: 0, failed: process.env.CI ? 1 : 0 };
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

/** The packages that npm gets, by name, a project that has nothing but the core, and one with the command line. */
async function packed() {
  const places = publishedFolders().flatMap((place) => ['-w', place]);
  const made = await runNpm(['pack', ...places, '--pack-destination', folder, '--loglevel=error'], { quiet: true });
  if (made.code !== 0) throw new Error(`npm pack failed: ${made.output}`);
  const tarballs = Object.fromEntries(
    readdirSync(folder).map((file) => [file.replace(/-\d[^/]*$/, ''), join(folder, file)]),
  );
  const [project, commands] = await Promise.all([
    projectWith('project', [tarballs['parley-a2a']]),
    projectWith(
      'commands',
      ['parley-a2a', 'parley-a2a-console', 'parley-a2a-cli'].map((name) => tarballs[name]),
    ),
  ]);
  return { tarballs, project, commands };
}

/** A new project with these packages alone. */
async function projectWith(name, files) {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  await npm(['install', ...files, '--prefix', project, '--no-package-lock', '--prefer-offline']);
  return project;
}

async function tools() {
  const here = join(root, 'test/package/tools');
  const lock = readFileSync(join(here, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const place = join(root, '.cache', `package-tools-${wanted}`);
  if (existsSync(join(place, 'complete'))) return place;
  rmSync(place, { recursive: true, force: true });
  cpSync(here, place, { recursive: true });
  await npm(['ci', '--prefix', place]);
  writeFileSync(join(place, 'complete'), '');
  return place;
}

async function oldNode() {
  const { node, output } = await oldestNode();
  if (node === undefined) throw new LeftOut(output);
  return node;
}

async function npm(args) {
  const { code, output } = await runNpm([...args, '--no-audit', '--no-fund', '--loglevel=error'], { quiet: true });
  if (code !== 0) throw new LeftOut(output);
}
