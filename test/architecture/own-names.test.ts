import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { namesOfOneFile } from './own-names.js';
import { repositoryFiles } from './repository.js';
import { parseSource, SourceTree } from './source-tree.js';

vi.setConfig({ testTimeout: 120_000 });
const root = fileURLToPath(new URL('../../', import.meta.url));

it('a name that only its own file has is not exported', () => {
  const texts = Array.from(repositoryFiles(root)).filter(([path]) => /\.(tsx?|mjs|md)$/.test(path));
  const isSource = (path: string) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path);
  const sources = texts
    .filter(([path]) => isSource(path))
    .map(([path, text]) => ({ path, text, ast: parseSource(path, text) }));
  const others = texts.filter(([path]) => !isSource(path)).map(([, text]) => text);
  expect(sources.length).toBeGreaterThan(1000);
  expect(namesOfOneFile(sources, others).map(({ file, problem }) => `${file}: ${problem}`)).toEqual([]);
});

it('such a name is found', () => {
  const { files } = SourceTree.of({
    'a.ts': 'export interface One {}\nexport const two = 2, three = 3;\nexport function four() {}\nconst five = 5;',
    'b.ts': "import { two } from './a.js';",
  });
  expect(namesOfOneFile(files, ['four']).map(({ file, line, problem }) => [file, line, problem])).toEqual([
    ['a.ts', 1, 'only this file has One: do not export it'],
    ['a.ts', 2, 'only this file has three: do not export it'],
  ]);
});
