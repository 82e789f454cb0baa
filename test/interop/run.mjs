// Runs the suite of the official Python client: `node test/interop/run.mjs [pytest arguments]`.
// Makes a virtual environment under .cache/ the first time, and again when requirements.txt changes. The result is in
// .cache/python-interop.xml (JUnit form); the last line is `N passed, N failed`. Without Python the suite says so and is left
// out, unless CI is set: there a suite that cannot run is a failure.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('python', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));
const requirements = join(here, 'requirements.txt');
const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
const venv = join(cache, `python-interop-${wanted}`);
const python = join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
const complete = join(venv, 'complete');

mkdirSync(cache, { recursive: true });
if (!existsSync(complete)) makeEnvironment();

const report = join(cache, 'python-interop.xml');
rmSync(report, { force: true });
const pytest = spawnSync(
  python,
  ['-m', 'pytest', '-c', join(here, 'pytest.ini'), `--junitxml=${report}`, ...process.argv.slice(2), here],
  { stdio: 'inherit', env: { ...process.env, NODE: process.execPath, PYTHONDONTWRITEBYTECODE: '1' } },
);
const { passed, failed } = count(report);
finish(passed, failed === 0 && pytest.status !== 0 ? 1 : failed);

function count(file) {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const suite = /<testsuite [^>]*>/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
  const number = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = number('failures') + number('errors');
  return { passed: number('tests') - failed - number('skipped'), failed };
}

function finish(passed, failed) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

function makeEnvironment() {
  rmSync(venv, { recursive: true, force: true });
  const base = ['python3', 'python'].find(
    (name) => run(name, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).ok,
  );
  if (base === undefined) leaveOut('there is no Python 3.10 or newer on the path', 'install python3');
  const made = run(base, ['-m', 'venv', venv]);
  if (!made.ok) leaveOut(`a virtual environment could not be made: ${made.said}`, 'install python3-venv');
  const installed = run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
  if (!installed.ok)
    leaveOut(`the packages could not be installed: ${installed.said}`, 'see whether pip reaches its index');
  writeFileSync(complete, '');
}

function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return { ok: status === 0, said: error?.message ?? stderr.trim().split('\n').at(-1) };
}

function leaveOut(why, remedy) {
  rmSync(venv, { recursive: true, force: true });
  const inCi = process.env.CI !== undefined && process.env.CI !== '';
  console.error(`The suite of the official Python client is left out: ${why}. To run it: ${remedy}.`);
  finish(0, inCi ? 1 : 0);
}
