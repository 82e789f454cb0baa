import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const workflow = readFileSync(fileURLToPath(new URL('../../.github/workflows/site.yml', import.meta.url)), 'utf8');
const steps = Array.from(workflow.matchAll(/^ {8}run: \|\n((?: {10}.*\n)+)/gm), ([, lines = '']) => lines);
const folder = mkdtempSync(join(tmpdir(), 'parley-workflow-'));
const remote = join(folder, 'remote.git');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a page, instead of the whole site, where `npm run docs` is asked to. */
const NPM = `#!/bin/sh
test "$1 $2 $3" = 'run docs --' || exit 1
mkdir -p "$5/$9" && echo "\${11} under $7" > "$5/$9/index.html"
`;

const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

/** Runs the steps in a fresh checkout, as GitHub does. */
function publish(name: string, type: 'branch' | 'tag'): void {
  const checkout = join(folder, 'checkout');
  rmSync(checkout, { recursive: true, force: true });
  git('clone', '--quiet', remote, checkout);
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
    GITHUB_REF_TYPE: type,
    GITHUB_REF_NAME: name,
    GITHUB_REPOSITORY: 'someone/parley',
  };
  for (const step of steps) execFileSync('bash', ['-e', '-c', step], { cwd: checkout, env, stdio: 'pipe' });
}

it('the workflow keeps the versions that are published, and replaces its own', () => {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/npm'), NPM);
  chmodSync(join(folder, 'bin/npm'), 0o755);
  git('init', '--quiet', '--bare', remote);
  expect(steps).toHaveLength(3);
  publish('main', 'branch');
  publish('v1.2.0', 'tag');
  publish('main', 'branch');
  const files = git('-C', remote, 'ls-tree', '-r', '--name-only', 'gh-pages').trim().split('\n');
  expect(files).toEqual(['.nojekyll', '1.2.0/index.html', 'next/index.html']);
  expect(git('-C', remote, 'show', 'gh-pages:1.2.0/index.html')).toBe('v1.2.0 under /parley/\n');
  expect(git('-C', remote, 'rev-list', '--count', 'gh-pages').trim()).toBe('1');
});
