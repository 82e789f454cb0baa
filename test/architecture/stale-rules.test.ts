import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { staleEntries } from './rooms.js';
import { SourceTree } from './source-tree.js';
import { staleAllowances } from './words.js';

const library = SourceTree.read(fileURLToPath(new URL('../../packages/parley/src', import.meta.url)));

describe('a rule that no file needs', () => {
  it('is not in the table of rooms', () => {
    expect(staleEntries(library)).toEqual([]);
  });

  it('is not in the table of words', () => {
    expect(staleAllowances(library)).toEqual([]);
  });

  it('is noticed', () => {
    const tree = SourceTree.of({ 'model/a.ts': '', 'store/a.ts': "const q = 'SELECT 1';" });
    expect(staleEntries(tree, { model: { rooms: ['errors'], modules: ['typebox'] } })).toEqual([
      'model → errors does not exist',
      'model does not import typebox',
    ]);
    const words = [{ name: 'SQL', words: /SELECT/, rooms: ['store/', 'app/gone.ts'] }];
    expect(staleAllowances(tree, words)).toEqual(['app/gone.ts uses none of SQL']);
  });
});
