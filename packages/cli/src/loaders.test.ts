import { expect, it } from 'vitest';
import { COMMANDS } from './command-line/commands.js';
import { LOADERS } from './loaders.js';

it('every command has a loader, and every loader a command', () => {
  expect(Object.keys(LOADERS).sort()).toEqual(COMMANDS.map(({ path }) => path).sort());
});
