import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, expect, it } from 'vitest';
import { OPERATION_NAMES } from '../../packages/parley/src/operations/operations.js';
import { nodesOf, type SourceFile, SourceTree } from '../architecture/source-tree.js';
import { CopiedTree } from '../support/copied-tree.js';
import { compilerErrors } from '../support/type-errors.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = 'packages/parley/src';
const tree = new CopiedTree((path) => path.startsWith('packages/parley/') || path === 'tsconfig.base.json');
afterAll(() => tree[Symbol.dispose]());

/** The most files that may name one operation. */
const MOST_FILES = 10;

/** The files of the recipe that the compiler asks for, from `CONTRIBUTING.md`. */
function filesOfRecipe(): readonly string[] {
  const [, recipe = ''] =
    /\*\*An operation\.\*\*(.*?)\n\n/s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
  const [, list = ''] = /then names these files:(.*?)\./s.exec(recipe.replaceAll('.ts', '‥ts')) ?? [];
  return Array.from(list.matchAll(/`([^`]+)`/g), ([, path = '']) => path.replaceAll('‥ts', '.ts'));
}

/** The files of the library in which the compiler finds something. */
function filesWithErrors(): readonly string[] {
  const errors = compilerErrors(tree.folder, ['-p', 'packages/parley']);
  return [...new Set(errors.map(({ path }) => path.replace(`${source}/`, '')))];
}

const edit = (path: string, from: string, to: string) => tree.edit(`${source}/${path}`, from, `${to}${from}`);

it('an operation is added by the recipe: the compiler asks for every file of its list', { timeout: 120_000 }, () => {
  edit(
    'operations/operations.ts',
    '  getTask: { request: GetTaskRequest;',
    '  archiveTask: { request: GetTaskRequest; response: Task };\n',
  );
  edit(
    'operations/operations.ts',
    "  getTask: {\n    request: 'GetTaskRequest'",
    "  archiveTask: { request: 'GetTaskRequest', response: 'Task', streaming: false, capability: undefined, summary: '' },\n",
  );
  const method = 'archiveTask(request: GetTaskRequest, context: ServerCallContext): Promise<Task>;';
  const entries: Readonly<Record<string, () => void>> = {
    'server/request-handler.ts': () => edit('server/request-handler.ts', '  getTask(request', `  ${method}\n`),
    'server/base-request-handler.ts': () =>
      edit('server/base-request-handler.ts', '  abstract getTask(request', `  abstract ${method}\n`),
    'server/default-request-handler.ts': () =>
      edit(
        'server/default-request-handler.ts',
        '  async getTask(request',
        `  ${method.replace(';', ' {\n    return this.getTask(request, context);\n  }')}\n\n`,
      ),
    'codec/v1_0/operations.ts': () =>
      edit(
        'codec/v1_0/operations.ts',
        "  getTask: {\n    methods: ['GetTask']",
        "  archiveTask: { methods: ['ArchiveTask'], routes: [], response: 'Task' },\n",
      ),
    'codec/v0_3/operations.ts': () =>
      edit('codec/v0_3/operations.ts', '    listTasks: undefined', '    archiveTask: undefined,\n'),
    'codec/v0_3/wire-schemas.ts': () =>
      edit('codec/v0_3/wire-schemas.ts', '  listTasks: undefined', '  archiveTask: undefined,\n'),
    'client/client.ts': () =>
      edit(
        'client/client.ts',
        '  async getTask(request',
        "  async archiveTask(request: GetTaskRequest): Promise<Task> {\n    return this.#unary('archiveTask', request, {});\n  }\n\n",
      ),
  };
  expect(filesOfRecipe()).toEqual(Object.keys(entries));
  // With the row of the operation itself.
  expect(Object.keys(entries).length + 1).toBeLessThanOrEqual(MOST_FILES);

  entries['server/request-handler.ts']?.();
  entries['server/base-request-handler.ts']?.();
  const rest = Object.keys(entries).filter((path) => !/request-handler/.test(path) || /default/.test(path));
  expect(filesWithErrors()).toEqual(expect.arrayContaining(rest));
  for (const path of rest) entries[path]?.();
  expect(filesWithErrors()).toEqual([]);
});

/** The conformance package implements the wire a second time, so that it can judge the first. */
const packages = SourceTree.read(join(root, 'packages')).shipped.filter(
  ({ path }) => /^[^/]+\/src\//.test(path) && !path.startsWith('conformance/'),
);

/** Rooms and files of the library that only call agents, as programs do. */
const CALLERS = /^parley\/src\/(?:(?:agent-calls|testing|tools)\/|exports\/testing|client\/missing-interface)/;

/** The names that a file has in its code. Calls of a client do not count in `CALLERS` and outside of the library. */
function namesOf(file: SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const countsCalls = file.path.startsWith('parley/') && !CALLERS.test(file.path);
  for (const node of nodesOf(file)) {
    if (!ts.isIdentifier(node) && !ts.isStringLiteralLike(node)) continue;
    if (countsCalls || !isCalled(node)) names.add(node.text);
  }
  return names;
}

function isCalled(node: ts.Node): boolean {
  const { parent } = node;
  return (
    ts.isPropertyAccessExpression(parent) && ts.isCallExpression(parent.parent) && parent.parent.expression === parent
  );
}

const named = packages.map((file) => [file.path, namesOf(file)] as const);

it.each(OPERATION_NAMES)(`${MOST_FILES} files at most name %s, or its method of version 1.0`, (operation) => {
  const method = operation.charAt(0).toUpperCase() + operation.slice(1);
  const files = named.filter(([, names]) => names.has(operation) || names.has(method)).map(([path]) => path);
  expect(files).toContain('parley/src/operations/operations.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(MOST_FILES);
});
