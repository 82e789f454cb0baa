import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { CopiedTree } from '../support/copied-tree.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = 'packages/parley/src';
const tree = new CopiedTree((path) => path.startsWith('packages/parley/') || path === 'tsconfig.base.json');
afterAll(() => tree[Symbol.dispose]());

/** The files of the recipe that the compiler asks for, from `CONTRIBUTING.md`. */
function filesOfRecipe(): readonly string[] {
  const [, recipe = ''] =
    /\*\*An operation\.\*\*(.*?)\n\n/s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
  const [, list = ''] = /then names these files:(.*?)\./s.exec(recipe.replaceAll('.ts', '‥ts')) ?? [];
  return Array.from(list.matchAll(/`([^`]+)`/g), ([, path = '']) => path.replaceAll('‥ts', '.ts'));
}

/** The files of the library in which the compiler finds something. */
function compilerErrors(): readonly string[] {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '-p', 'packages/parley', '--noEmit', '--incremental', 'false'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: tree.folder, encoding: 'utf8' });
  return [...new Set(Array.from(stdout.matchAll(/^packages\/parley\/src\/([^(]+)\(/gm), ([, path = '']) => path))];
}

const edit = (path: string, from: string, to: string) => tree.edit(`${source}/${path}`, from, `${to}${from}`);

it('an operation is added by the recipe: the compiler asks for every file of its list, and for no other', {
  timeout: 180_000,
}, () => {
  const row =
    "archiveTask: { name: 'archiveTask', request: 'GetTaskRequest', response: 'Task', streaming: false, capability: undefined },";
  edit(
    'operations/operations.ts',
    '  getTask: { request: GetTaskRequest;',
    '  archiveTask: { request: GetTaskRequest; response: Task };\n',
  );
  edit('operations/operations.ts', "  getTask: { name: 'getTask'", `  ${row}\n`);
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
    'codec/v1_0/decode.ts': () =>
      edit('codec/v1_0/decode.ts', "  getTask: 'GetTaskRequest'", "  archiveTask: 'GetTaskRequest',\n"),
    'codec/v0_3/requests.ts': () =>
      edit('codec/v0_3/requests.ts', '    getTask: membersReader', "    archiveTask: membersReader([['id']]),\n"),
    'bindings/http/described-agent.ts': () =>
      edit('bindings/http/described-agent.ts', "  getTask: 'Read a task'", "  archiveTask: 'Archive a task',\n"),
  };
  expect(filesOfRecipe()).toEqual(Object.keys(entries));

  entries['server/request-handler.ts']?.();
  entries['server/base-request-handler.ts']?.();
  const asked = compilerErrors();
  const rest = Object.keys(entries).filter((path) => !/request-handler/.test(path) || /default/.test(path));
  expect(asked).toEqual(expect.arrayContaining(rest));
  for (const path of rest) entries[path]?.();
  expect(compilerErrors()).toEqual([]);
});
