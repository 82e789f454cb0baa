// Builds the library and its users, or only the named projects. Skips projects without changes since the last build.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './installation.mjs';
import { isMain, main, root, runOwn, step } from './processes.mjs';
import { withNeeds, workspaces } from './workspaces.mjs';

const recordFile = join(root, '.cache/build.json');
const compiler = join(root, 'node_modules/typescript/bin/tsc');

/** The folders of all projects, each after those that it needs. */
const PROJECTS = withNeeds(workspaces().map(({ folder }) => folder)).filter((folder) =>
  existsSync(join(root, folder, 'tsconfig.json')),
);

/** Files outside of the project that a bundle holds. */
const BUNDLED = { 'packages/cli': ['docs/errors.json'] };

/** Builds all outdated projects, or some of them with what they need. Resolves to the projects that were built. */
export async function build(wanted = PROJECTS) {
  const projects = withNeeds(wanted);
  const record = readRecord();
  const shared = fingerprint(['package-lock.json', 'tsconfig.base.json']);
  const schemas = fingerprint(['packages/parley/src/model', 'packages/parley/scripts'], shared);
  if (record.schemas !== schemas || generatedFiles().length === 0) {
    await step('Compiling schemas', () => runOwn(['packages/parley/scripts/compile-schemas.mjs'], { quiet: true }));
    writeRecord({ ...record, schemas });
  }
  // A project is outdated if a project below it is.
  let below = schemas;
  const built = [];
  for (const project of PROJECTS) {
    const state = fingerprint(
      [
        ...[`${project}/src`, `${project}/scripts`, `${project}/tsconfig.json`, `${project}/package.json`],
        ...(BUNDLED[project] ?? []),
      ],
      below,
    );
    below = state;
    if (!projects.includes(project)) continue;
    if (readRecord()[project] === state && isBuilt(project)) continue;
    // A bundle that fails may have replaced a part of the last one.
    writeRecord({ ...readRecord(), [project]: undefined });
    await step(`Building ${project}`, () => compile(project));
    writeRecord({ ...readRecord(), [project]: state });
    built.push(project);
  }
  return built;
}

async function compile(project) {
  const dist = join(root, project, 'dist');
  // The notes of the compiler must not outlive the files that they describe.
  if (!filesIn(`${project}/dist`).some((path) => path.endsWith('.js'))) rmSync(dist, { recursive: true, force: true });
  // A failed build leaves no trace. Otherwise the record would claim that the former sources are still built.
  const result = await runOwn([compiler, '-p', project, '--noEmitOnError'], { quiet: true });
  if (result.code !== 0) return result;
  removeOrphans(project);
  return existsSync(bundler(project)) ? runOwn([bundler(project)], { quiet: true }) : result;
}

/** The script that bundles the compiled files of a project, if it has one. */
function bundler(project) {
  return join(root, project, 'scripts/bundle.mjs');
}

function isBuilt(project) {
  const folders = existsSync(bundler(project)) ? ['dist', 'bundle'] : ['dist'];
  return folders.every((folder) => existsSync(join(root, project, folder)));
}

/** Deletes the output of sources that are gone. */
function removeOrphans(project) {
  for (const path of filesIn(`${project}/dist`)) {
    const source = path.replace(`${project}/dist/`, `${project}/src/`).replace(/(\.d\.ts|\.js)(\.map)?$/, '');
    const isCompiled = source !== path && /\.(js|d\.ts)(\.map)?$/.test(path);
    if (isCompiled && !['.ts', '.tsx'].some((ending) => existsSync(join(root, `${source}${ending}`))))
      rmSync(join(root, path));
  }
}

function generatedFiles() {
  return filesIn('packages/parley/src').filter((path) => path.endsWith('.generated.ts'));
}

/** A hash over files and folders, without tests and generated files. */
function fingerprint(paths, seed = '') {
  const hash = createHash('sha256').update(seed);
  for (const path of paths.flatMap((path) => (path.includes('.') ? [path] : filesIn(path))).sort()) {
    if (!existsSync(join(root, path)) || /\.(test|generated)\.ts$/.test(path)) continue;
    hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

function filesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8'));
  } catch {
    return {};
  }
}

function writeRecord(record) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(recordFile, `${JSON.stringify(record, undefined, 1)}\n`);
}

if (isMain(import.meta.url)) {
  await main(async () => {
    const projects = process.argv.slice(2);
    await ensureInstalled();
    await build(projects.length > 0 ? projects : PROJECTS);
  });
}
