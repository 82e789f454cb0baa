import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SourceTree } from './source-tree.js';
import { SINKS, staleAllowances, wordViolations } from './words.js';

describe('text for terminals and logs', () => {
  it.each(Object.entries(SINKS))('is written by few files of %s, which clean it', (folder, rules) => {
    const tree = SourceTree.read(fileURLToPath(new URL(`../../${folder}`, import.meta.url)));
    expect(wordViolations(tree, rules)).toEqual([]);
    expect(staleAllowances(tree, rules)).toEqual([]);
  });

  it.each([
    'process.stderr.write(text);',
    'console.error(text);',
    'const { stdout } = process; process.stdout.write(text);',
  ])('is not written elsewhere: %s', (code) => {
    const tree = SourceTree.of({ 'src/commands/planted.ts': code });
    expect(wordViolations(tree, SINKS['packages/cli'])).toHaveLength(1);
  });
});
