import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importChain, namesInTable, tableFaults } from './folder-tables.js';
import { ROOMS, roomOf } from './rooms.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');

describe('the tables of folders', () => {
  const foldersOf = (path: string) =>
    readdirSync(`${root}/${path}`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);

  it.each([
    ['ARCHITECTURE.md', 'Rooms of the library (`packages/parley/src`)', 'packages/parley/src'],
    ['ARCHITECTURE.md', 'Packages beside the core', 'packages'],
    ['ARCHITECTURE.md', 'Rooms of the command line (`packages/cli/src`)', 'packages/cli/src'],
    ['ARCHITECTURE.md', 'Rooms of the conformance tester (`packages/conformance/src`)', 'packages/conformance/src'],
    ['CONTRIBUTING.md', 'Tests', 'test'],
  ])('in %s, %s: a row for each folder', (document, heading, path) => {
    // `support` has no tests, and `parley` is the core. The texts beside the tables name them.
    const outside = path === 'test' ? 'support' : path === 'packages' ? 'parley' : '';
    const folders = foldersOf(path).filter((name) => name !== outside);
    expect(tableFaults(namesInTable(read(document), heading), folders)).toEqual([]);
  });

  it('notice a missing, a double and a stale row', () => {
    const names = namesInTable('\n## A\n| `x` | `y` |\n| `x`, `z` | |\n## B\n| `b` |', 'A');
    expect(tableFaults(names, ['x', 'w'])).toEqual(['w is missing', 'x is listed twice', 'z does not exist']);
  });

  it('agree with the chain of imports, whose groups import only from the left', () => {
    const chain = importChain(read('ARCHITECTURE.md'));
    expect(chain.flat()).toEqual(Object.keys(ROOMS).filter((room) => !room.includes('/')));
    const placeOf = (room: string) => chain.findIndex((group) => group.includes(room));
    const sideways = Object.entries(ROOMS).flatMap(([room, { rooms }]) =>
      rooms.filter((other) => placeOf(roomOf(other)) >= placeOf(roomOf(room))).map((other) => `${room} → ${other}`),
    );
    expect(sideways).toEqual([]);
  });
});
