import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { repositoryFiles } from './repository.js';

/** Code that fails on some platform, with what to write instead. */
const FORBIDDEN: readonly (readonly [problem: string, pattern: RegExp])[] = [
  ['pathname of a file url: use fileURLToPath', /import\.meta\.url\)+\.pathname/],
  ['a folder of one system: use tmpdir() or an option', /['"`]\/(?:tmp|proc|dev|var|etc)\//],
  ['import of a path: use pathToFileURL', /(?<!typeof )\bimport\((?!['"`]|pathToFileURL\(|[A-Z_]+\)|url\))/],
  ['a script of the shell as a program: Windows starts none', /['"`][\w/-]+\.(?:cmd|bat|sh)['"`]/],
  ['a signal to a group of processes: Windows has none', /process\.kill\(-/],
  ['a folder in the variable HOME: use homedir()', /process\.env\.HOME\b/],
];
/** They do the same in another way on Windows, or run on Debian only. */
const ALLOWED: ReadonlySet<string> = new Set([
  'packages/cli/src/serve/exec-agent.ts: a signal to a group of processes: Windows has none',
  'scripts/processes.mjs: a signal to a group of processes: Windows has none',
  'scripts/processes.mjs: a folder of one system: use tmpdir() or an option',
  'scripts/debian-package.mjs: a folder of one system: use tmpdir() or an option',
]);

const OF_USERS = /^(?:(?:packages|examples)\/[\w-]+\/(?:src|scripts|bin)|scripts)\/.*\.(?:ts|tsx|js|mjs)$/;
const CONFIGURATION = /^(?:test\/.*\/)?vitest\.config\.m?[jt]s$/;

const root = fileURLToPath(new URL('../..', import.meta.url));

function problemsIn(files: Iterable<readonly [path: string, text: string]>): string[] {
  return [...files]
    .filter(([path]) => (OF_USERS.test(path) && !path.endsWith('.test.ts')) || CONFIGURATION.test(path))
    .flatMap(([path, text]) =>
      FORBIDDEN.filter(([, pattern]) => pattern.test(text)).map(([problem]) => `${path}: ${problem}`),
    );
}

/** Scripts of npm that need the shell of one system. */
function scriptProblems(path: string, text: string): string[] {
  const { scripts = {} } = JSON.parse(text) as { readonly scripts?: Readonly<Record<string, string>> };
  return Object.entries(scripts)
    .filter(([, command]) => !/^(?:node|tsc|next) [^&|;$'<>]*$/.test(command))
    .map(([name]) => `${path}: ${name}`);
}

it('shipped code and scripts run on every platform', () => {
  expect(new Set(problemsIn(repositoryFiles(root)))).toEqual(ALLOWED);
});

it('scripts of npm need no shell of one system', () => {
  const manifests = [...repositoryFiles(root)].filter(([path]) =>
    /^(?:(?:packages|examples)\/[\w-]+\/)?package\.json$/.test(path),
  );
  expect(manifests.length).toBeGreaterThan(15);
  expect(manifests.flatMap(([path, text]) => scriptProblems(path, text))).toEqual([]);
  expect(scriptProblems('a', '{"scripts": {"b": "A=1 node b.mjs", "c": "node c.mjs && node d.mjs"}}')).toHaveLength(2);
});

it.each([
  ["const path = new URL('a', import.meta.url).pathname;", 'pathname'],
  ["writeFileSync('/tmp/a', '');", 'tmpdir'],
  ['await import(path);', 'pathToFileURL'],
  ["spawn('npm.cmd', args);", 'shell'],
  ['process.kill(-child.pid);', 'group'],
  ['join(process.env.HOME, name);', 'homedir'],
])('the rule notices %s', (code, word) => {
  const told = problemsIn([['packages/cli/src/a.ts', code]]);
  expect(told).toEqual([expect.stringContaining(word)]);
  expect(problemsIn([['packages/cli/src/a.test.ts', code]])).toEqual([]);
});
