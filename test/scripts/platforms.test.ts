import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { scriptSentence, vitestSentence } from '../../scripts/node-version.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const manifest = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
const least = manifest.engines.node.replace('>=', '');

const workflow = read('.github/workflows/platforms.yml');
/** The values of the lists of a name in the workflow, in order. */
const readLists = (name: string) =>
  Array.from(workflow.matchAll(new RegExp(`^ +${name}: \\[(.+)\\]$`, 'gm')), ([, list = '']) =>
    list.split(', ').map((value) => value.replaceAll("'", '')),
  );

it('the repository and its packages need the same Node.js', () => {
  expect(manifest.engines).toEqual((JSON.parse(read('packages/parley/package.json')) as typeof manifest).engines);
});

it.each(['20.11.1', '22.18.0', '18.20.0'])('Node.js %s is too old, in one sentence', (version) => {
  expect(scriptSentence(version)).toBe(
    `Parley needs Node.js ${least} or newer; this is ${version}. The commands of npm use the one in node_modules.\n`,
  );
  expect(vitestSentence(version)).toMatch(/^Parley needs .*\. Run npm test -- FILE, .*\n$/);
});

it.each(['22.19.0', '22.20.1', '24.0.0'])('Node.js %s is new enough', (version) => {
  expect(scriptSentence(version)).toBeUndefined();
  expect(vitestSentence(version)).toBeUndefined();
});

it.each([
  ['npm install', ['scripts/node-version.mjs'], 0],
  ['a script', ['scripts/release.mjs', '--help'], 0],
  ['a suite of its own', ['test/docs/run.mjs'], 1],
  ['one file of tests', ['node_modules/vitest/vitest.mjs', 'run', 'test/scripts/release-plan.test.ts'], 1],
])('%s says that Node.js is too old', (_, args, status) => {
  const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.11.1'})`;
  const ran = spawnSync(process.execPath, ['--import', old, ...args], { cwd: root, encoding: 'utf8' });
  expect(`${ran.stdout}${ran.stderr}`.split('\n')[0]).toMatch(
    /^Parley needs Node\.js .* or newer; this is 20\.11\.1\./,
  );
  expect(ran.status).toBe(status);
});

/** The TypeScript and the packages of the repository that a script and its modules import before it runs. */
function newerBehind(path: string, seen = new Set<string>()): readonly string[] {
  if (path.endsWith('.ts')) return [path];
  if (seen.has(path)) return [];
  seen.add(path);
  const imports = readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;']*'([^']+)';$/gm);
  return Array.from(imports, ([, specifier = '']) => specifier).flatMap((specifier) => {
    if (specifier.startsWith('parley-a2a')) return [specifier];
    return specifier.startsWith('.') ? newerBehind(join(path, '..', specifier), seen) : [];
  });
}

it('scripts that Node.js 20 may start import nothing newer before they look at its version', () => {
  const suites = readdirSync(join(root, 'test')).map((folder) => join(root, 'test', folder, 'run.mjs'));
  const commands = readdirSync(join(root, 'scripts')).map((name) => join(root, 'scripts', name));
  const scripts = [...suites, ...commands].filter((path) => path.endsWith('.mjs') && existsSync(path));
  expect(scripts.length).toBeGreaterThan(40);
  expect(scripts.flatMap((path) => newerBehind(path))).toEqual([]);
  expect(newerBehind(join(root, 'test/support/example-server.mjs'))).not.toEqual([]);
});

it('the workflow runs on every platform that the documents name', () => {
  const [, table = ''] = read('docs/hosts.md').split('\n## Platforms\n');
  const named = Array.from(table.split('\n## ')[0]?.matchAll(/^\| ([^|]+) \|/gm) ?? [], ([, name = '']) => name);
  expect(named.slice(2)).toEqual(['Linux', 'macOS', 'Windows', 'Deno', 'Bun', 'Workers']);
  expect(readLists('os')[0]).toEqual(['ubuntu-latest', 'macos-latest', 'windows-latest']);
  expect(readLists('node')[0]?.[0]).toBe(least);
  const [runtimes = []] = readLists('runtime');
  expect(runtimes).toEqual(['deno', 'bun', 'workerd']);
  for (const name of runtimes) expect(existsSync(`${root}/test/hosts/${name}.test.ts`)).toBe(true);
});

it('the workflow names files and commands that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const lines = Array.from(workflow.matchAll(/^ +- run: (.+)$/gm), ([, line = '']) => line);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const [program, ...args] = line.split(' ');
    if (program === 'node') {
      const paths = args.filter((arg) => /^(?:test|packages|node_modules)\b/.test(arg));
      expect(paths.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
    } else if (args[0] === 'run') expect(Object.keys(scripts)).toContain(args[1]);
    else expect(['test', 'ci']).toContain(args[0]);
  }
});
