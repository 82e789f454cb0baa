import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import {
  lengthViolations,
  nameViolations,
  syntaxViolations,
  testViolations,
  undocumentedExports,
} from './architecture/conventions.js';
import { importCycles } from './architecture/cycles.js';
import { commentViolations, documentViolations, proseViolations } from './architecture/prose.js';
import { ALLOWED_COMMENTS, REFUSED_COMMENTS, REFUSED_MARKDOWN } from './architecture/prose-plants.js';
import { importsFromOutside, nodeModulesNeededBy, privateImports } from './architecture/public-surface.js';
import { expressionViolations } from './architecture/regular-expressions.js';
import { machineTraces, repositoryFiles, resolvedPackages } from './architecture/repository.js';
import { orderViolations, ROOMS, roomOf, roomViolations } from './architecture/rooms.js';
import { type SourceFile, SourceTree, type Violation } from './architecture/source-tree.js';
import { WORDS, wordViolations } from './architecture/words.js';

// Some of these tests read every file of the repository, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const library = SourceTree.read(`${root}/packages/parley/src`);
const besides = readdirSync(`${root}/packages`).flatMap((name) => (name === 'parley' ? [] : [`packages/${name}`]));
const tests = ['packages/parley/test', 'test'];
const elsewhere = [...tests, 'examples', 'benchmarks', ...besides].flatMap((folder) => treeAt(folder));
const manifest = JSON.parse(read('packages/parley/package.json')) as { exports: Record<string, unknown> };
const subpaths = Object.keys(manifest.exports);

function treeAt(folder: string): { folder: string; tree: SourceTree }[] {
  try {
    return [{ folder, tree: SourceTree.read(`${root}/${folder}`) }];
  } catch {
    return [];
  }
}

const printViolations = (violations: readonly Violation[]) =>
  violations.map(({ file, line, problem }) => `${file}:${line} ${problem}`);
const problems = (violations: readonly Violation[]) => violations.map(({ file, problem }) => `${file}: ${problem}`);
const plantFiles = (texts: Readonly<Record<string, string>>) => SourceTree.of(texts);

describe('rooms', () => {
  it('import only what the table allows', () => {
    expect(printViolations(roomViolations(library))).toEqual([]);
  });

  it('are in the table from left to right', () => {
    expect(orderViolations()).toEqual([]);
    expect(orderViolations({ model: { rooms: ['server'] }, server: { rooms: [] } })).toEqual(['model → server']);
  });

  it('all exist', () => {
    const folders = new Set(library.files.map(({ path }) => roomOf(path)));
    const known = Object.keys(ROOMS).map(roomOf);
    expect([...folders].filter((folder) => !known.includes(folder))).toEqual([]);
  });

  it.each([
    ['model', 'errors/a2a-error', 'model must not import errors/a2a-error.ts'],
    ['errors', 'model/task', 'errors must not import model/task.ts'],
    ['task', 'store/storage', 'task must not import store/storage.ts'],
    ['server', 'bindings/http/exchange', 'server must not import bindings/http/exchange.ts'],
    ['server', 'store/sqlite/sqlite-storage', 'server must not import store/sqlite/sqlite-storage.ts'],
    ['client', 'server/request-handler', 'client must not import server/request-handler.ts'],
    ['server', 'client/client', 'server must not import client/client.ts'],
    ['bindings/jsonrpc', 'server/execution/turn', 'bindings must not import server/execution/turn.ts'],
    ['bindings/jsonrpc', 'codec/v1_0/codec', 'bindings must not import codec/v1_0/codec.ts'],
    [
      'bindings/jsonrpc',
      'bindings/http-json/x',
      'bindings/jsonrpc must not import its sibling bindings/http-json/x.ts',
    ],
    ['store/sqlite', 'store/memory/x', 'store/sqlite must not import its sibling store/memory/x.ts'],
    ['store/sqlite', 'store/rules/decide-x', 'store/rules/decide-x.ts is asked by store/engine only'],
    ['server', 'store/rules/decide-x', 'store/rules/decide-x.ts is asked by store/engine only'],
    ['app', 'adapters/node/x', 'app must not import adapters/node/x.ts'],
    ['newroom', 'model/task', 'the room newroom is not in the table of rooms'],
  ])('%s must not import %s', (room, target, problem) => {
    const path = `${room}/planted.ts`;
    const up = '../'.repeat(room.split('/').length);
    const tree = plantFiles({ [path]: `import type { X } from '${up}${target}.js';`, [`${target}.ts`]: 'export {};' });
    expect(problems(roomViolations(tree))).toContain(`${path}: ${problem}`);
  });

  it('may import to the left, and bindings from http', () => {
    const tree = plantFiles({
      'bindings/jsonrpc/a.ts': "import { b } from '../http/b.js'; import type { T } from '../../model/task.js';",
      'bindings/http/b.ts': '',
      'model/task.ts': "import Type from 'typebox';",
    });
    expect(roomViolations(tree)).toEqual([]);
  });

  it.each([
    ['codec/a.ts', 'node:fs'],
    ['server/a.ts', 'zod'],
    ['bindings/http/a.ts', 'node:http'],
    ['store/memory/a.ts', 'node:sqlite'],
    ['errors/a.ts', 'typebox'],
  ])('%s does without the module %s', (path, specifier) => {
    const forms = [`import '${specifier}';`, `export * from '${specifier}';`, `await import('${specifier}');`];
    for (const text of forms) {
      const tree = plantFiles({ [path]: text });
      expect(problems(roomViolations(tree))).toEqual([`${path}: the module ${specifier} is not for this room`]);
    }
  });

  it('notices an import of a file that is not there', () => {
    const tree = plantFiles({ 'model/a.ts': "import './gone.js';" });
    expect(problems(roomViolations(tree))).toEqual(['model/a.ts: ./gone.js is not in the tree']);
  });
});

describe('import cycles', () => {
  it('do not exist', () => {
    expect(importCycles(library)).toEqual([]);
    expect(elsewhere.flatMap(({ tree }) => importCycles(tree))).toEqual([]);
  });

  it('are found, whatever their length, and types make none', () => {
    const tree = plantFiles({
      'a.ts': "import './b.js';",
      'b.ts': "export * from './c.js';",
      'c.ts': "import './a.js'; import './d.js';",
      'd.ts': "import type { A } from './a.js';",
      'e.ts': "import './e.js';",
    });
    expect(importCycles(tree)).toEqual([['a.ts', 'b.ts', 'c.ts'], ['e.ts']]);
  });
});

describe('words', () => {
  it('stand in their rooms only', () => {
    expect(printViolations(wordViolations(library))).toEqual([]);
  });

  const PLANTS: Readonly<Record<string, readonly string[]>> = {
    'the JSON-RPC envelope': ["const x = { jsonrpc: '2.0' };"],
    'JSON-RPC error codes': [
      'const code = -32001;',
      'const code = -32602;',
      'const code = -32700;',
      'const code = -31401;',
    ],
    'query parsing': ['new URLSearchParams(query);'],
    'the HTTP status of an A2A error': [
      'const x = { TASK_NOT_FOUND: 404 };',
      "const x = { TASK_NOT_FOUND: [404, 'NOT_FOUND'] };",
    ],
    'the media type of streams': ["const type = 'text/event-stream';"],
    'a bare parameter as the limit of a statement (see LIMIT)': ["const order = 'ORDER BY id LIMIT ?';"],
    'a body limit that is not called bodyBytes': ['const bodyLimit = 10;', 'const MAX_BODY_BYTES = 10;'],
    'wire method names of 1.0': ["const method = 'SendMessage';", "const method = 'ListTaskPushNotificationConfigs';"],
    'routes of 1.0': ["const path = '/message:send';", "const path = ['tasks', '{id}:cancel'];"],
    'wire method names and routes of 0.3': ["const method = 'message/stream';", "const method = 'tasks/resubscribe';"],
    'members of 0.3': ['const x = { final: true };', 'if (configuration.blocking) run();'],
    'the kinds of 0.3': ["const x = { kind: 'status-update' };", "if (x.kind === 'message') run();"],
    'lower-case task states': ["const state = 'input-required';"],
    SQL: ['const q = `SELECT * FROM task`;', "const q = 'PRAGMA journal_mode';"],
    'types of a host': ['function f(request: IncomingMessage) {}'],
    'authentication headers': ["header('authorization');", "const x = { 'WWW-Authenticate': 'Bearer' };"],
    'the process and its console': ['console.log(1);', 'const x = process.env.PORT;', 'process.exit(1);'],
    'the clock': ['Date.now();', 'new Date();', 'performance.now();'],
    'random ids': ['crypto.randomUUID();', 'Math.random();'],
    timers: ['setTimeout(run, 1);', 'globalThis.setImmediate(run);'],
    'the global fetch': ['await fetch(url);'],
  };

  it.each(WORDS)('$name are missed nowhere', ({ name, rooms }) => {
    const plants = PLANTS[name] ?? [];
    expect(plants).not.toEqual([]);
    for (const text of plants) {
      const found = wordViolations(plantFiles({ 'nowhere/planted.ts': `/** SELECT */\n${text}` }));
      expect(found, text).toContainEqual(
        expect.objectContaining({ line: 2, problem: expect.stringContaining(`${name} (`) }),
      );
      for (const room of rooms) {
        const path = room.endsWith('/') ? `${room}planted.ts` : room;
        expect(problems(wordViolations(plantFiles({ [path]: text }))).join()).not.toContain(`${name} (`);
      }
    }
  });

  it('do not count in comments, import paths and tests', () => {
    const text =
      "// console.log\n/* SELECT 1 */\nimport { x } from '../store/jsonrpc/x.js';\nconst s = f(/* fetch( */ x); // Date.now";
    expect(wordViolations(plantFiles({ 'server/a.ts': text, 'server/a.test.ts': 'setTimeout(run, 1);' }))).toEqual([]);
  });
});

describe('versions before 1.0', () => {
  it('take less than 8 % of what ships: they are codecs, not second transports', () => {
    const linesOf = (files: readonly SourceFile[]) => files.reduce((sum, { text }) => sum + text.split('\n').length, 0);
    const old = library.shipped.filter(({ path }) => /^codec\/(?:v0_|hybrid-card)/.test(path));
    expect(old.length).toBeGreaterThan(15);
    expect(linesOf(old) / linesOf(library.shipped)).toBeLessThan(0.08);
  });
});

describe('conventions', () => {
  const everything = [{ folder: 'packages/parley/src', tree: library }, ...elsewhere];
  const toldOf = (rule: (tree: SourceTree) => Violation[]) =>
    everything.flatMap(({ folder, tree }) => printViolations(rule(tree)).map((line) => `${folder}/${line}`));

  it('hold for names', () => {
    expect(toldOf((tree) => nameViolations(tree, { entryPoints: ['exports/index.ts', 'src/index.ts'] }))).toEqual([]);
  });

  it.each([
    'server/taskStore.ts',
    'server/task_store.ts',
    'server/utils.ts',
    'server/task-helpers.ts',
    'common/task.ts',
    'server/task-manager.ts',
    'server/task-service.ts',
    'server/types.ts',
    'server/index.ts',
  ])('refuse the name %s', (path) => {
    expect(nameViolations(plantFiles({ [path]: '' }))).toHaveLength(1);
  });

  it('allow names that use such a word for what it means', () => {
    const paths = ['operations/service-parameters.ts', 'codec/v1_0/task.ts', 'a.test.ts', 'model/x.generated.ts'];
    expect(nameViolations(plantFiles(Object.fromEntries(paths.map((path) => [path, '']))))).toEqual([]);
  });

  it('hold for the length of files', () => {
    expect(toldOf(lengthViolations)).toEqual([]);
    expect(lengthViolations(plantFiles({ 'a.ts': '\n'.repeat(499), 'b.ts': '\n'.repeat(500) }))).toMatchObject([
      { file: 'b.ts' },
    ]);
  });

  // Parses every source file. A busy machine needs more than the usual limit.
  it('hold for syntax', { timeout: 120_000 }, () => {
    expect(toldOf(syntaxViolations)).toEqual([]);
  });

  it.each([
    ['const x: any = 1;', 'any'],
    ['const x = y as any;', 'any'],
    ['const x = y!.z;', 'a non-null assertion'],
    ['export enum E { A }', 'an enum'],
    ['export default 1;', 'a default export'],
    ['export default function f() {}', 'a default export'],
    ['vi.waitFor(done);', 'a wait of one second: a busy machine needs more'],
    ['// @ts-ignore', 'a suppressed type error'],
    [`// ${'TO'}DO: later`, 'something left to do'],
    [`/* ${'FIX'}ME */`, 'something left to do'],
  ])('refuse %s', (text, problem) => {
    expect(problems(syntaxViolations(plantFiles({ 'a.ts': text })))).toEqual([`a.ts: ${problem}`]);
  });

  it('allow such words where they mean something else', () => {
    const text = "const any = !y; if (a !== b) run('enum'); type T = { default: 1 };";
    expect(syntaxViolations(plantFiles({ 'a.ts': text }))).toEqual([]);
  });

  it('hold for regular expressions', () => {
    const outside = everything.filter(
      ({ folder }) => (folder.startsWith('packages/') && !tests.includes(folder)) || folder === 'examples',
    );
    expect(
      outside.flatMap(({ folder, tree }) =>
        printViolations(expressionViolations(tree)).map((line) => `${folder}/${line}`),
      ),
    ).toEqual([]);
  });

  it.each([
    String.raw`/\/+$/`,
    String.raw`/\n+$/`,
    String.raw`/\s*\n\s*/`,
    String.raw`/\s*\n\s*/g`,
    '/^(a+)+$/',
    '/^(?:a|a)*$/',
    String.raw`/^\s*a?\s*$/`,
    '/^(.*),(.*)$/',
    String.raw`/\?.*$/`,
    '/^-+|-+$/',
    '/^(?=.*a.*b)/',
    String.raw`/\/+$/m`,
    String.raw`/^(\w+\s?)*$/`,
    String.raw`/(a)\1+/`,
    "new RegExp('a')",
  ])('refuse the regular expression %s', (expression) => {
    expect(expressionViolations(plantFiles({ 'a.ts': `const x = ${expression};` }))).toHaveLength(1);
    expect(expressionViolations(plantFiles({ 'a.test.ts': `const x = ${expression};` }))).toEqual([]);
  });

  it.each([
    String.raw`/(?<!\/)\/+$/`,
    String.raw`/\s+/g`,
    String.raw`/^\/+/`,
    String.raw`/;\s*q=(\d+)\s*(?:;|$)/i`,
    String.raw`/^(?:\/[A-Za-z0-9._~-]+)+\/?$/`,
    String.raw`/^(.+?)(\.[^.]*)?$/`,
    String.raw`/\s*:\s*(-?\d[\d.eE+-]*)/y`,
    String.raw`/[\p{Cc}<>:"|?*]/gu`,
    String.raw`/\d{1,9}$/`,
    '/(?:^|&)a2a-version=([^&]*)/i',
  ])('allow the regular expression %s', (expression) => {
    expect(expressionViolations(plantFiles({ 'a.ts': `const x = ${expression};` }))).toEqual([]);
  });

  it('hold for doc comments', () => {
    const shipped = everything.filter(
      ({ folder }) => (folder.startsWith('packages/') && !tests.includes(folder)) || folder === 'examples',
    );
    expect(
      shipped.flatMap(({ folder, tree }) =>
        printViolations(undocumentedExports(tree)).map((line) => `${folder}/${line}`),
      ),
    ).toEqual([]);
  });

  it('ask for a doc comment on every export', () => {
    const text = [
      '/** A. */',
      'export const A = 1;',
      'export type B = typeof A;',
      '',
      'export interface C {}',
      '',
      '// not a doc comment',
      'export function d() {}',
      'export const ESchema = 1;',
      '/** E. */',
      'export type E = 1;',
      'const hidden = 1;',
    ].join('\n');
    expect(printViolations(undocumentedExports(plantFiles({ 'a.ts': text })))).toEqual([
      'a.ts:5 C has no doc comment',
      'a.ts:8 d has no doc comment',
    ]);
  });

  it('hold for tests', () => {
    expect(toldOf(testViolations)).toEqual([]);
  });

  it.each(['it.skip', 'test.only', 'describe.todo', 'it.fails', 'vi.mock', 'vi.doMock'])(
    'refuse %s in a test',
    (call) => {
      expect(testViolations(plantFiles({ 'a.test.ts': `${call}('x');` }))).toHaveLength(1);
      expect(testViolations(plantFiles({ 'a.test.ts': `// ${call}('x')` }))).toEqual([]);
    },
  );
});

describe('public surface', () => {
  const packages = elsewhere.filter(({ folder }) => !tests.includes(folder));

  it('is all that other packages use', () => {
    expect(
      packages.flatMap(({ tree }) => printViolations(privateImports(tree, { library: 'parley-a2a', subpaths }))),
    ).toEqual([]);
  });

  it('is not used by the conformance tester, and neither is any other package', () => {
    const tester = packages.filter(({ folder }) => folder === 'packages/conformance');
    expect(tester).toHaveLength(1);
    expect(tester.flatMap(({ tree }) => printViolations(importsFromOutside(tree)))).toEqual([]);
  });

  it.each([
    'parley-a2a',
    'parley-a2a/client',
    '../../parley/src/model/task.js',
    '../../cli/src/run.js',
    'zod',
    'undici',
  ])('of other packages: the conformance tester must not import %s', (specifier) => {
    const tree = plantFiles({
      'src/a.ts': `import type { X } from '${specifier}'; import { b } from './b.js'; import 'node:util';`,
      'src/b.ts': 'export const b = 1;',
    });
    expect(problems(importsFromOutside(tree))).toEqual([`src/a.ts: ${specifier} is from outside of the package`]);
  });

  it.each([
    'parley-a2a/store/task-storage.js',
    'parley-a2a/dist/exports/server.js',
    '../../packages/parley/src/model/task.js',
    '../../parley/src/model/task.js',
  ])('does not include %s', (specifier) => {
    const tree = plantFiles({ 'a.ts': `import '${specifier}'; import type { Task } from 'parley-a2a/server';` });
    expect(problems(privateImports(tree, { library: 'parley-a2a', subpaths: ['.', './server'] }))).toEqual([
      `a.ts: ${specifier} is not public`,
    ]);
  });

  it('has a source file for each of its subpaths', () => {
    const sources = subpaths.map((subpath) =>
      subpath === '.' ? 'exports/index.ts' : `exports/${subpath.slice(2)}.ts`,
    );
    expect(sources.filter((path) => library.file(path) === undefined)).toEqual([]);
    const entries = readdirSync(`${root}/packages/parley/src/exports`).filter((name) => !name.endsWith('.test.ts'));
    expect(entries.length).toBeGreaterThanOrEqual(subpaths.length);
  });

  it.each(['exports/web.ts', 'exports/server.ts', 'exports/client.ts', 'exports/hono.ts'])(
    '%s loads where there is no Node',
    (entry) => {
      expect(nodeModulesNeededBy(library, entry)).toEqual([]);
    },
  );

  it('shows which import brings Node in', () => {
    const tree = plantFiles({
      'exports/server.ts': "export * from '../server/a.js'; import type { B } from '../server/b.js';",
      'server/a.ts': "import { readFile } from 'fs'; import './c.js';",
      'server/b.ts': "import 'node:os';",
      'server/c.ts': "import 'node:path'; import 'zod';",
    });
    expect(nodeModulesNeededBy(tree, 'exports/server.ts')).toEqual([
      'exports/server.ts → server/a.ts → fs',
      'exports/server.ts → server/a.ts → server/c.ts → node:path',
    ]);
  });
});

describe('repository', () => {
  it('names no machine and no registry', () => {
    expect(printViolations(machineTraces(repositoryFiles(root)))).toEqual([]);
  });

  it.each([
    ['/', 'work/', 'main/x'].join(''),
    ['see /', 'home/', 'someone/x'].join(''),
    ['https://registry', 'npmjs', 'org/vitest'].join('.'),
    ['https://pypi', 'org'].join('.'),
    ['../', 'sha', 'red/style.md'].join(''),
    ['is refused (SEND', '1)'].join('-'),
  ])('notices %s', (line) => {
    expect(machineTraces(new Map([['a.md', `first\n${line}`]]))).toMatchObject([{ file: 'a.md', line: 2 }]);
  });

  it('keeps no source of packages in its lock file', () => {
    expect(resolvedPackages(read('package-lock.json'))).toEqual([]);
    const lock = {
      packages: { 'node_modules/a': { resolved: 'x' }, 'node_modules/b': { resolved: 'packages/b', link: true } },
    };
    expect(resolvedPackages(JSON.stringify(lock))).toEqual(['node_modules/a']);
  });
});

describe('plain words', () => {
  it('hold in every comment and document', { timeout: 120_000 }, () => {
    expect(printViolations(proseViolations(repositoryFiles(root)))).toEqual([]);
  });

  it.each(REFUSED_COMMENTS)('refuse the comment %j', (text, problem) => {
    expect(problems(commentViolations('a.ts', text)).join()).toContain(problem);
  });

  it.each(ALLOWED_COMMENTS)('allow %j', (text) => {
    expect(commentViolations('a.ts', text)).toEqual([]);
  });

  it.each(REFUSED_MARKDOWN)('refuse the Markdown %j', (text, problem) => {
    expect(problems(documentViolations('a.md', text)).join()).toContain(problem);
  });

  it('ignore code, headings and the targets of links in documents', () => {
    const code = ['```ts', '// nobody', '```'].join('\n');
    expect(documentViolations('a.md', `## How it works\n\n${code}\n\n[a](nobody.md), \`by chance\`.`)).toEqual([]);
  });
});
