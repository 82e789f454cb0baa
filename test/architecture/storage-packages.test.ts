import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsFromOutside, isNodeModule, nodeModulesNeededBy } from './public-surface.js';
import { SourceTree } from './source-tree.js';
import { codeOf } from './words.js';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));
const treeOf = (folder: string) => SourceTree.read(`${packages}/${folder}/src`);
const library = treeOf('parley');
const ENTRY = 'exports/storage-engine.ts';
const isEngine = (specifier: string) => specifier === 'parley-a2a/storage-engine';

/** Modules of each storage beside its files and the engine. */
const STORAGES: Readonly<Record<string, (specifier: string) => boolean>> = {
  'durable-object': () => false,
  redis: (specifier) => specifier === 'ioredis' || isNodeModule(specifier),
  postgres: (specifier) => isNodeModule(specifier) || specifier === 'pg',
};

describe.each(Object.entries(STORAGES))('the storage in %s', (folder, isOwn) => {
  it('imports the engine of storages, its modules and its own files only', () => {
    const found = importsFromOutside(treeOf(folder), (specifier) => isEngine(specifier) || isOwn(specifier));
    // A cache is no storage, and needs other things of the core.
    expect(found.filter(({ file }) => !file.startsWith('cache/'))).toEqual([]);
  });

  it.each(['parley-a2a', 'parley-a2a/kit', '../../parley/src/store/rules/decide-append.js'])(
    'must not import %s',
    (specifier) => {
      const tree = SourceTree.of({ 'a.ts': `import '${specifier}'; import 'parley-a2a/storage-engine';` });
      const found = importsFromOutside(tree, (one) => isEngine(one) || isOwn(one));
      expect(found).toMatchObject([{ problem: expect.stringContaining(specifier) }]);
    },
  );
});

it('the engine gives storages no rule that decides, and no module of Node.js', () => {
  const text = library.file(ENTRY)?.text;
  expect(text).toContain('local-tables');
  expect(text).not.toMatch(/decide-/);
  expect(nodeModulesNeededBy(library, ENTRY)).toEqual([]);
});

describe('a storage that processes share', () => {
  const OTHERS = ['parley', 'cli', 'console', 'conformance'];
  /** The files of other packages whose code has a word. Comments do not count. */
  const filesNaming = (word: RegExp, trees = OTHERS.map((folder) => [folder, treeOf(folder)] as const)) =>
    trees.flatMap(([folder, tree]) =>
      tree.shipped
        .filter((file) => word.test(file.text) && word.test(codeOf(file)))
        .map(({ path }) => `${folder}/${path}`),
    );

  /** The interface for 0.2.5 has members and a variable of this name. */
  const BASE_SERVER = /^parley\/app\/(?:base-server\/|(?:server-settings|setting-forms)\.ts$)/;

  it.each([
    ['postgres', /postgres/i],
    ['redis', /\bredis/i],
  ])('is its package, and three files that name %s', (_name, word) => {
    expect(filesNaming(word).filter((path) => !BASE_SERVER.test(path))).toEqual([
      'parley/store/database-url.ts',
      'cli/database/backends.ts',
      'cli/failure/needed-packages.ts',
    ]);
  });

  it('is found by its word in code, and not in comments', () => {
    const tree = SourceTree.of({
      'a.ts': '// PostgreSQL\nexport {};',
      'b.ts': "export const url = 'postgres://host';",
    });
    expect(filesNaming(/postgres/i, [['planted', tree]])).toEqual(['planted/b.ts']);
  });
});
