// Makes a release: versions, changelog, commit and tag; then packages, their parts lists and their publication. Without
// --apply and --publish it only says what it would do.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { keepVersion, LAST_VERSION } from './last-version.mjs';
import { writePartsList } from './parts-list.mjs';
import { main, root, run, runNpm, step } from './processes.mjs';
import { planRelease, provenanceProblems, publishCommand, publishProblems, withdrawCommand } from './release-plan.mjs';
import { publishedFolders, withNeeds, workspaces } from './workspaces.mjs';

const HELP = `npm run release -- VERSION [options]

  VERSION           such as 1.2.3 or 1.2.3-rc.1, after the current one
  --apply           writes the versions, the changelog and the packed last version, commits and tags
  --publish         builds, packs into packed/, and publishes the version that is checked out
  --withdraw TEXT   withdraws VERSION instead, with --publish: installing it warns with this text
  --provenance      npm states where the packages were built; needs a CI with OIDC tokens
  --tag NAME        the tag of npm; default: latest, or next for a version before 1.2.3
  --registry URL    default: that of npm's settings
  --help            this

Without --apply and --publish nothing changes.
`;

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      apply: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      provenance: { type: 'boolean', default: false },
      tag: { type: 'string' },
      registry: { type: 'string' },
      withdraw: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [version] = positionals;
  const isRelease = values.publish && values.withdraw === undefined;
  if (values.help || (version === undefined && !isRelease)) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  if (values.withdraw !== undefined) return withdraw(version, values);
  if (values.publish && values.provenance) {
    const manifests = publishedPackages().map(({ manifest }) => manifest);
    if (!hasNone(provenanceProblems({ manifests, env: process.env }))) return 1;
  }
  if (version !== undefined) {
    const isReady = await prepare(version, values);
    if (!isReady) return 1;
  }
  return values.publish ? publish(values) : 0;
});

/** The published packages, each after those that it needs: folder and manifest. */
function publishedPackages() {
  const published = publishedFolders();
  return withNeeds(published)
    .filter((folder) => published.includes(folder))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) }));
}

/** The output of a command of Git. */
async function git(...args) {
  return (await run('git', args, { quiet: true })).output.trim();
}

/** Tells the reasons against a release. Returns whether there are none. */
function hasNone(problems) {
  for (const problem of problems) process.stdout.write(`No release: ${problem}\n`);
  return problems.length === 0;
}

/** Writes the new versions, or tells them. Resolves to false if there can be no release. */
async function prepare(version, { apply: isApplied, ...options }) {
  const paths = ['package.json', ...workspaces().map(({ folder }) => `${folder}/package.json`)];
  const manifests = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const { problems, files } = planRelease({
    version,
    day: new Date().toISOString().slice(0, 10),
    manifests,
    changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    isClean: (await git('status', '--porcelain')) === '',
  });
  if (!hasNone(problems)) return false;
  const changed = [...Object.keys(files), 'package-lock.json', LAST_VERSION];
  for (const path of changed) process.stdout.write(`${isApplied ? 'Changes' : 'Would change'}: ${path}\n`);
  if (!options.publish) {
    for (const { manifest } of publishedPackages()) {
      const command = publishCommand(`packed/${manifest.name}-${version}.tgz`, { version, ...options });
      process.stdout.write(`Would then run: npm ${command.join(' ')}\n`);
    }
  }
  if (!isApplied) return true;
  await ensureInstalled();
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  await step('Writing package-lock.json', () =>
    runNpm(['install', '--package-lock-only', '--ignore-scripts'], { quiet: true }),
  );
  await keepVersion();
  const message = `release: v${version}`;
  await step('Committing', () => run('git', ['commit', '--quiet', '--all', '--message', message], { quiet: true }));
  await step('Tagging', () => run('git', ['tag', `v${version}`], { quiet: true }));
  process.stdout.write(`Committed and tagged: v${version}. Push both, then publish\n`);
  return true;
}

/** Packs and publishes all packages. Resolves to the exit code. */
async function publish(options) {
  const packages = publishedPackages();
  const problems = publishProblems({
    version: packages[0].manifest.version,
    tags: (await git('tag', '--points-at', 'HEAD')).split('\n'),
    isClean: (await git('status', '--porcelain')) === '',
  });
  if (!hasNone(problems)) return 1;
  await ensureInstalled();
  await build(publishedFolders());
  const packed = join(root, 'packed');
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed);
  const fileOf = (name) => join(packed, `${name}-${packages[0].manifest.version}`);
  const packedFile = (name) =>
    packages.some(({ manifest }) => manifest.name === name) ? `file:${fileOf(name)}.tgz` : undefined;
  for (const { folder } of packages) {
    const pack = ['pack', '-w', folder, '--pack-destination', packed, '--loglevel=error'];
    await step(`Packing ${folder}`, () => runNpm(pack, { quiet: true }));
  }
  // All lists are there before the first package is published.
  for (const { manifest } of packages) {
    const file = `${fileOf(manifest.name)}.cdx.json`;
    await step(`Listing the parts of ${manifest.name}`, () => writePartsList(manifest, { file, packedFile }));
  }
  for (const { manifest } of packages) {
    const command = publishCommand(`${fileOf(manifest.name)}.tgz`, { version: manifest.version, ...options });
    await step(`Publishing ${manifest.name}`, () => runNpm(command, { quiet: true }));
  }
  return 0;
}

/** Withdraws a version of all packages, or tells the commands. Resolves to the exit code. */
async function withdraw(version, { withdraw: reason, publish: isDone, registry }) {
  for (const { manifest } of publishedPackages()) {
    const command = withdrawCommand(manifest.name, { version, reason, registry });
    if (isDone) await step(`Withdrawing ${manifest.name}`, () => runNpm(command, { quiet: true }));
    else process.stdout.write(`Would run: npm ${command.join(' ')}\n`);
  }
  return 0;
}
