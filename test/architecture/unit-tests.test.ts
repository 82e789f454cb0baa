import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { repositoryFiles } from './repository.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Imports of files of packages that lead into the tests above all packages. */
function upwardImports(files: Iterable<readonly [path: string, text: string]>): string[] {
  return [...files]
    .filter(([path]) => /^packages\/[\w-]+\/(?:src|test)\/.*\.tsx?$/.test(path))
    .flatMap(([path, text]) =>
      Array.from(text.matchAll(/['"](\.\.?\/[^'"\n]+)['"]/g), ([, to = '']) => posix.join(posix.dirname(path), to))
        .filter((to) => to.startsWith('test/'))
        .map((to) => `${path} → ${to}`),
    );
}

it('unit tests and their helpers import nothing from the tests above all packages', () => {
  expect(upwardImports(repositoryFiles(root))).toEqual([]);
  const planted = "import { a } from '../../../../test/support/a.js';";
  expect(upwardImports([['packages/parley/src/server/b.test.ts', planted]])).toEqual([
    'packages/parley/src/server/b.test.ts → test/support/a.js',
  ]);
});

it('the helpers of unit tests are not published', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'packages/parley/package.json'), 'utf8')) as { files: string[] };
  expect(files.filter((path) => /^(?:test|src)/.test(path))).toEqual([]);
});
