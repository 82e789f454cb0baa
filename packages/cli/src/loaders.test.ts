import { expect, it } from 'vitest';
import { COMMANDS } from './command-line/commands.js';
import { LOADERS } from './loaders.js';

it('every command has something that runs it, and nothing else has', () => {
  expect(Object.keys(LOADERS).sort()).toEqual(COMMANDS.map(({ path }) => path).sort());
});
