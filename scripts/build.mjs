// Builds the library and its users, or only the named projects. Skips projects without changes since the last build.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './installation.mjs';
import { isMain, main, root, runOwn, step } from './processes.mjs';
import { withNeeds, workspaces } from './workspaces.mjs';

const recordFile = join(root, '.cache/build.json');
const compiler = join(root, 'node_modules/typescript-native/bin/tsc');
const transpiler = join(root, 'scripts/transpile.mjs');

/** The folders of all projects, each after those that it needs. */
const PROJECTS = withNeeds(workspaces().map(({ folder }) => folder)).filter((folder) =>
  existsSync(join(root, folder, 'tsconfig.json')),
);

/** Projects that are built at once: a compiler keeps one core busy. */
const AT_ONCE = 2;

/** Files outside of the project that a bundle holds. */
const BUNDLED = { 'packages/cli': ['docs/errors.json'] };

/**
 * Builds all outdated projects, or some of them with what they need. Resolves to the projects that were built.
 * Without `checksTypes` it leaves out types and declarations, and needs no compiler. Such a project is outdated for a
 * build that checks types.
 */
export async function build(wanted = PROJECTS, { checksTypes = true } = {}) {
  const projects = withNeeds(wanted);
  const record = readRecord();
  const shared = fingerprint(['package-lock.json', 'tsconfig.base.json']);
  const schemas = fingerprint(['packages/parley/src/model', 'packages/parley/scripts'], shared);
  if (record.schemas !== schemas || generatedFiles().length === 0) {
    await step('Compiling schemas', () => runOwn(['packages/parley/scripts/compile-schemas.mjs'], { quiet: true }));
    writeRecord({ ...record, schemas });
  }
  const states = new Map();
  // A project is outdated if a project below it is.
  let below = schemas;
  for (const project of PROJECTS) {
    below = fingerprint(
      [
        ...[`${project}/src`, `${project}/scripts`, `${project}/tsconfig.json`, `${project}/package.json`],
        ...(BUNDLED[project] ?? []),
      ],
      below,
    );
    states.set(project, below);
  }
  const present = readRecord();
  const unchecked = (project) => `${states.get(project)} unchecked`;
  const isCurrent = (project) =>
    present[project] === states.get(project) || (!checksTypes && present[project] === unchecked(project));
  const outdated = PROJECTS.filter(
    (project) => projects.includes(project) && !(isCurrent(project) && isBuilt(project)),
  );
  await eachAfterItsNeeds(outdated, async (project) => {
    // A bundle that fails may have replaced a part of the last one.
    writeRecord({ ...readRecord(), [project]: undefined });
    await step(`Building ${project}`, () => (checksTypes ? compile(project) : transpile(project)));
    writeRecord({ ...readRecord(), [project]: checksTypes ? states.get(project) : unchecked(project) });
  });
  return outdated;
}

/**
 * Builds some projects at once, each after those that it needs. After a failure no further one begins, and the error is
 * thrown when none runs.
 */
async function eachAfterItsNeeds(projects, start) {
  const waiting = new Set(projects);
  const running = new Map();
  const failures = [];
  const isReady = (project) =>
    withNeeds([project]).every((other) => other === project || !(waiting.has(other) || running.has(other)));
  for (;;) {
    const next = failures.length === 0 && running.size < AT_ONCE ? [...waiting].find(isReady) : undefined;
    if (next !== undefined) {
      waiting.delete(next);
      const build = start(next).catch((error) => failures.push(error));
      running.set(
        next,
        build.finally(() => running.delete(next)),
      );
    } else if (running.size > 0) {
      await Promise.race(running.values());
    } else break;
  }
  if (failures.length > 0) throw failures[0];
}

async function compile(project) {
  const dist = join(root, project, 'dist');
  // The build information of the compiler must be deleted with the files that it describes.
  if (!filesIn(`${project}/dist`).some((path) => path.endsWith('.js'))) rmSync(dist, { recursive: true, force: true });
  // A failed build leaves no trace. Otherwise the record would claim that the former sources are still built.
  const result = await runOwn([compiler, '-p', project, '--noEmitOnError'], { quiet: true });
  if (result.code !== 0) return result;
  removeOrphans(project);
  return bundle(project, result);
}

/** Compiles each file by itself. */
async function transpile(project) {
  const result = await runOwn([transpiler, project], { quiet: true });
  return result.code === 0 ? bundle(project, result) : result;
}

/** Runs the script that bundles the compiled files of a project, if it has one. */
function bundle(project, result) {
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
