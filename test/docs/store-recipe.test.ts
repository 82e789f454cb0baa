import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../packages/parley/src/runtime/clock.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { conversationContract } from '../contract/conversation-contract.js';
import { scopedTasksContract } from '../contract/scoped-tasks-contract.js';
import { type StoragePair, sameAnswersProperty } from '../contract/storage/same-answers.js';
import { type OpenStorage, StorageClock } from '../contract/storage/tested-storage.js';
import { type StoredText, unreadableContract } from '../contract/storage/unreadable.js';
import { storageContract } from '../contract/storage-contract.js';
import { turnContextContract } from '../contract/turn-context-contract.js';
import type { Tables } from './table-store/rows.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = 'test/docs/table-store';
const ENGINE = join(root, 'packages/parley/src/exports/storage-engine.ts');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const [, recipe = ''] =
  /\*\*A store\.\*\*(.*?)\n\n\*\*/s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
const STEPS = Array.from(recipe.matchAll(/^\d+\. .*(?:\n {3}.*)*/gm), ([step]) => step);

const codeIn = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code);
const filesOf = (steps: readonly string[]) => steps.flatMap((step) => codeIn(step)[0] ?? []);

/** A new folder with the files that the steps name, and no other. */
function follow(steps: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-store-'));
  folders.push(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const file of filesOf(steps)) cpSync(join(root, EXAMPLE, file), join(folder, file));
  return folder;
}

const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile);
const options: ts.CompilerOptions = {
  ...ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options,
  noEmit: true,
  composite: false,
  incremental: false,
  types: [],
  paths: { 'parley-a2a/storage-engine': [ENGINE] },
};
const host = ts.createCompilerHost(options);
const parsed = new Map<string, ts.SourceFile | undefined>();
const compilerHost: ts.CompilerHost = {
  ...host,
  getSourceFile: (path, version) => {
    if (!parsed.has(path)) parsed.set(path, host.getSourceFile(path, version));
    return parsed.get(path);
  },
};

/** Reads what the compiler finds in a store that the steps have made, and the calls that the steps do not name. */
function faultsOf(steps: readonly string[]): readonly string[] {
  const folder = follow(steps);
  const entry = join(folder, 'table-storage.ts');
  const files = [entry, ...filesOf(steps).map((file) => join(folder, file))];
  const program = ts.createProgram([...files, ENGINE], options, compilerHost);
  const sources = files.flatMap((file) => program.getSourceFile(file) ?? []);
  const found = sources.flatMap((source) => [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ]);
  return [
    ...(program.getSourceFile(entry) === undefined ? ['No step makes ./table-storage.js'] : []),
    ...found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    ...callsOf(program)
      .filter((names) => !names.some((name) => steps.some((step) => codeIn(step).includes(name))))
      .map(([name]) => `no step names ${name}`),
  ];
}

/** The calls of `LocalTables`, each with the interfaces that have it. */
function callsOf(program: ts.Program): readonly (readonly string[])[] {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(ENGINE) as ts.SourceFile);
  const exported = module && checker.getExportsOfModule(module).find(({ name }) => name === 'LocalTables');
  if (exported === undefined) throw new Error('storage-engine exports no LocalTables');
  return checker
    .getDeclaredTypeOfSymbol(checker.getAliasedSymbol(exported))
    .getProperties()
    .flatMap((member) => {
      const type = checker.getTypeOfSymbol(member);
      const table = type.getSymbol()?.name ?? '';
      if (!/^(Local|FinishedTasks$)/.test(table)) return [[member.name]];
      return type.getProperties().map(({ name, declarations = [] }) => {
        const owners = declarations.map(({ parent }) => (ts.isInterfaceDeclaration(parent) ? parent.name.text : ''));
        // Two steps share the calls of tasks, so that each call is named.
        return [name, ...[table, ...owners].filter((owner) => owner !== 'LocalTasks')];
      });
    });
}

it('the steps name the files of the example, each once', () => {
  expect(recipe).toContain(`\`${EXAMPLE}\``);
  expect(filesOf(STEPS).toSorted()).toEqual(readdirSync(join(root, EXAMPLE)).sort());
});

it('a store by the steps compiles against the engine alone, and they name each call of its tables', () => {
  expect(faultsOf(STEPS)).toEqual([]);
}, 60_000);

it.each(STEPS.map((step, at) => [codeIn(step)[0], at] as const))(
  'the step of %s cannot be left out',
  (_, left) => {
    expect(faultsOf(STEPS.filter((_step, at) => at !== left))).not.toEqual([]);
  },
  60_000,
);

it.each(['`abandoned`', '`TurnTables`', '`FinishedTasks`', '`transaction`'])(
  'a step without %s is noticed',
  (name) => {
    const steps = STEPS.map((step) => step.replaceAll(name, ''));
    expect(faultsOf(steps).join()).toContain('no step names');
  },
  60_000,
);

/** Replaces a stored text. */
function corruptRow(
  { tasks, records, queues }: Tables,
  { id, where, text }: { readonly id: string; readonly where: StoredText; readonly text: string },
): void {
  const [row] = tasks.filter(({ key }) => key.id === id);
  if (row === undefined) throw new Error(`There is no task ${id}`);
  const place = `${row.name} ${where.replace('record ', '')}`;
  const record = records.get(place);
  if (record !== undefined) records.put(place, { ...record, event: text });
  else if (where !== 'config') tasks.put(row.name, { ...row, snapshot: { seq: row.seq, task: text } });
  else {
    const found = queues.filter(({ task, configId }) => task === row.name && configId === 'hook');
    for (const queue of found) queues.put(queue.name, { ...queue, config: text });
  }
}

describe('a store by the steps', async () => {
  const folder = follow(STEPS);
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, file)).href);
  const { Tables } = (await load('rows.ts')) as { readonly Tables: new () => Tables };
  const { TableStorage } = (await load('table-storage.ts')) as {
    readonly TableStorage: new (tables: Tables, clock: Clock, options?: object) => TaskStorage;
  };
  const open: OpenStorage = async (clock, limits) => new TableStorage(new Tables(), clock, limits);
  let pair: StoragePair | undefined;
  const openPair = async (): Promise<StoragePair> => {
    const clock = new StorageClock();
    return { clock, memory: new MemoryStorage({ clock }), other: await open(clock), secondOwner: () => 'bob' };
  };
  const contracts: Readonly<Record<string, () => void>> = {
    storageContract: () => storageContract('example', open),
    scopedTasksContract: () => scopedTasksContract('example', open),
    conversationContract: () => conversationContract('example', open),
    turnContextContract: () => turnContextContract('example', open, { concurrent: true }),
    unreadableContract: () =>
      unreadableContract('example', async (clock, logger) => {
        const tables = new Tables();
        const corrupt = async (id: string, where: StoredText, text: string) => corruptRow(tables, { id, where, text });
        return { storage: new TableStorage(tables, clock, { logger }), corrupt };
      }),
    sameAnswersProperty: () => sameAnswersProperty('example', async () => (pair ??= await openPair()), 60),
  };
  const [, listed = ''] = /Then run the contract:(.*?) of `test\/contract`/s.exec(recipe) ?? [];

  it('the recipe lists the contracts', () => {
    expect(codeIn(listed)).toEqual(Object.keys(contracts));
  });

  for (const name of codeIn(listed)) contracts[name]?.();
});
