// Makes a release: versions, changelog, commit and tag; then packages, their parts lists and their publication. Without
// --apply and --publish it only says what it would do.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { keepVersion, LAST_VERSION } from './last-version.mjs';
import { main, root, run, runNpm, step } from './processes.mjs';
import { planRelease } from './release-plan.mjs';
import { publishedFolders, withNeeds, workspaces } from './workspaces.mjs';

const HELP = `npm run release -- VERSION [options]

  VERSION           such as 1.2.3 or 1.2.3-rc.1, after the current one
  --apply           writes the versions, the changelog and the packed last version, commits and tags
  --publish         builds, packs into packed/, and publishes the version that is checked out
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
      help: { type: 'boolean', default: false },
    },
  });
  const [version] = positionals;
  if (values.help || (version === undefined && !values.publish)) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  if (version !== undefined) {
    const isReady = await prepare(version, values.apply);
    if (!isReady) return 1;
  }
  return values.publish ? publish(values) : 0;
});

/** Writes the new versions, or tells them. Resolves to false if there can be no release. */
async function prepare(version, isApplied) {
  const paths = ['package.json', ...workspaces().map(({ folder }) => `${folder}/package.json`)];
  const manifests = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const { output } = await run('git', ['status', '--porcelain'], { quiet: true });
  const { problems, files } = planRelease({
    version,
    day: new Date().toISOString().slice(0, 10),
    manifests,
    changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    isClean: output.trim() === '',
  });
  for (const problem of problems) process.stdout.write(`No release: ${problem}\n`);
  if (problems.length > 0) return false;
  const changed = [...Object.keys(files), 'package-lock.json', LAST_VERSION];
  for (const path of changed) process.stdout.write(`${isApplied ? 'Changes' : 'Would change'}: ${path}\n`);
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

/** Packs and publishes all packages, each after those that it needs. Resolves to the exit code. */
async function publish({ provenance, tag, registry }) {
  await ensureInstalled();
  await build();
  const folder = join(root, 'packed');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const published = publishedFolders();
  for (const place of withNeeds(published).filter((one) => published.includes(one))) {
    const pack = ['pack', '-w', place, '--pack-destination', folder, '--loglevel=error'];
    await step(`Packing ${place}`, () => runNpm(pack, { quiet: true }));
    const { name, version, bundled = [] } = JSON.parse(readFileSync(join(root, place, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((one) => one === `${name}-${version}.tgz`);
    const sbom = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '-w', place, '--loglevel=error'];
    await step(`Listing the parts of ${name}`, async () => {
      const listed = await runNpm(sbom, { quiet: true });
      if (listed.code === 0)
        writeFileSync(join(folder, `${name}-${version}.cdx.json`), withBundled(listed.output, bundled));
      return listed;
    });
    const options = [
      ...['--access', 'public', '--tag', tag ?? (version.includes('-') ? 'next' : 'latest')],
      ...(provenance ? ['--provenance'] : []),
      ...(registry === undefined ? [] : ['--registry', registry]),
    ];
    await step(`Publishing ${name}`, () => runNpm(['publish', join(folder, file), ...options], { quiet: true }));
  }
  return 0;
}

/** A list of parts with the packages whose code is in the bundle of its package. npm does not know them. */
function withBundled(list, bundled) {
  const parts = JSON.parse(list);
  const components = bundled.map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    return {
      type: 'library',
      name,
      version,
      purl: `pkg:npm/${name}@${version}`,
      licenses: [{ license: { id: license } }],
    };
  });
  return `${JSON.stringify({ ...parts, components: [...(parts.components ?? []), ...components] }, null, 2)}\n`;
}
