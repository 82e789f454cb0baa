import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsFromOutside, nodeModulesNeededBy } from './public-surface.js';
import { SourceTree } from './source-tree.js';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));
const library = SourceTree.read(`${packages}/parley/src`);
const ENTRY = 'exports/storage-engine.ts';
const isEngine = (specifier: string) => specifier === 'parley-a2a/storage-engine';

describe('the storage for Durable Objects', () => {
  it('imports the engine of storages and its own files only', () => {
    expect(importsFromOutside(SourceTree.read(`${packages}/durable-object`), isEngine)).toEqual([]);
  });

  it.each(['parley-a2a', 'parley-a2a/storage', '../../parley/src/store/rules/decide-append.js', 'node:sqlite'])(
    'must not import %s',
    (specifier) => {
      const tree = SourceTree.of({ 'src/a.ts': `import '${specifier}'; import 'parley-a2a/storage-engine';` });
      expect(importsFromOutside(tree, isEngine)).toMatchObject([{ problem: expect.stringContaining(specifier) }]);
    },
  );

  it('gets no rule that decides from the engine, and no module of Node.js', () => {
    const text = library.file(ENTRY)?.text;
    expect(text).toContain('local-tables');
    expect(text).not.toMatch(/decide-/);
    expect(nodeModulesNeededBy(library, ENTRY)).toEqual([]);
  });
});
