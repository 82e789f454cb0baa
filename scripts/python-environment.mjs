// Python for suites. Each list of packages gets its own virtual environment under .cache/, created once.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alone, root, run } from './processes.mjs';

/** Minor versions of Python 3: the oldest one that suites run on, and the newest one that is looked for by name. */
const LEAST = 10;
const NEWEST = 15;
/** The version of uv, which installs packages in a tenth of the time of pip. */
const UV = '0.13.9';

/**
 * The interpreter of an environment with the packages of a requirements file. If there is none, prints why the suite is
 * left out and how to run it, and returns undefined. In CI that is an error. `least` is the oldest minor version of
 * Python 3 that the packages run on.
 */
export async function pythonWith(requirements, leftOut, { least = LEAST } = {}) {
  const { python, fault } = await environmentOf(requirements, least);
  if (fault === undefined) return python;
  const said = `${leftOut} left out: ${fault}`;
  if (process.env.CI) throw new Error(said);
  process.stdout.write(`${said}\n`);
  return undefined;
}

/** The interpreter of an environment, which is made if it is missing, and what kept it from being made. */
export function environmentOf(requirements, least = LEAST) {
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  return environmentAt(`python-${wanted}`, (paths) => makeEnvironment({ ...paths, requirements, least }));
}

/** An environment under .cache/. `make` fills its folder, and returns what kept it from that. */
async function environmentAt(name, make) {
  const folder = join(root, '.cache', name);
  const python = programOf(folder, 'python');
  const fault = await alone(`${folder}.lock`, async () => {
    const complete = join(folder, 'complete');
    if (existsSync(complete)) return undefined;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const found = await make({ folder, python });
    if (found === undefined) writeFileSync(complete, '');
    else rmSync(folder, { recursive: true, force: true });
    return found;
  });
  return { folder, python, fault };
}

function programOf(folder, name) {
  return join(folder, process.platform === 'win32' ? `Scripts/${name}.exe` : `bin/${name}`);
}

async function makeEnvironment({ folder, python, requirements, least }) {
  const base = await anyPython(least);
  if (base === undefined) return `there is no Python 3.${least} or newer on the path; install python3 to run them.`;
  if (await isMadeByUv(base, { folder, python, requirements })) return undefined;
  rmSync(folder, { recursive: true, force: true });
  return makeWithPip(base, { folder, python, packages: ['-r', requirements] });
}

/** False if uv cannot be installed, or installs nothing: pip may have another index. */
async function isMadeByUv(base, { folder, python, requirements }) {
  const made = await environmentAt(`python-uv-${UV}`, (paths) =>
    makeWithPip(base, { ...paths, packages: [`uv==${UV}`] }),
  );
  if (made.fault !== undefined) return false;
  const uv = programOf(made.folder, 'uv');
  const venv = ['venv', '--quiet', '--clear', '--no-python-downloads', '--python', base, folder];
  if (!(await tried(uv, venv)).ok) return false;
  return (await tried(uv, ['pip', 'install', '--quiet', '--python', python, '-r', requirements])).ok;
}

async function makeWithPip(base, { folder, python, packages }) {
  const made = await tried(base, ['-m', 'venv', folder]);
  if (!made.ok) return `a virtual environment could not be made; install python3-venv to run them. ${made.said}`;
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  const installed = await tried(python, pip);
  if (!installed.ok) return `the packages could not be installed; see whether pip reaches its index. ${installed.said}`;
  return undefined;
}

/** The name of a Python 3 with at least this minor version, or undefined. */
export async function anyPython(least = LEAST) {
  const newer = Array.from({ length: Math.max(0, NEWEST - least + 1) }, (_, at) => `python3.${least + at}`);
  for (const name of ['python3', 'python', ...newer]) {
    if ((await tried(name, ['-c', `import sys; sys.exit(sys.version_info < (3, ${least}))`])).ok) return name;
  }
  return undefined;
}

async function tried(command, args) {
  try {
    const { code, output } = await run(command, args, { quiet: true });
    return { ok: code === 0, said: output.trim().split('\n').at(-1) };
  } catch (error) {
    return { ok: false, said: error.message };
  }
}
