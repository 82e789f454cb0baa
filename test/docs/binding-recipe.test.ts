import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { undocumentedExports } from '../architecture/conventions.js';
import { importCycles } from '../architecture/cycles.js';
import { ROOMS, roomViolations } from '../architecture/rooms.js';
import { SourceTree } from '../architecture/source-tree.js';
import { wordViolations } from '../architecture/words.js';
import { BINDINGS, type BindingRow } from '../matrix/every-binding/bindings.js';
import { ALL, outcomesOf } from '../matrix/every-binding/outcomes-of.js';
import { OTHER_VERSION } from '../matrix/every-binding/special-scenarios.js';
import { World } from '../matrix/every-binding/world.js';
import { LINES } from './lines/bindings/lines/lines-exchange.js';
import { linesBinding, linesTransport } from './lines/exports/lines.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = join(root, 'test/docs/lines');
const [, recipe = ''] =
  /\*\*A binding\.\*\*(.*?)\n\n\*\*/s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];

/** The files of the binding in this folder, as they would stand in the library. */
const files = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

function inLibrary(path: string): string {
  const up = '../'.repeat(path.split('/').length - 1);
  const text = readFileSync(join(here, path), 'utf8');
  return text.replaceAll(/'(?:\.\.\/)+packages\/parley\/src\//g, `'${up}`);
}

/** The row of the table of rooms that the recipe asks for. */
const ROOM = {
  'bindings/lines': {
    rooms: ['errors', 'model', 'operations', 'codec/wire-codec', 'auth/challenge', 'client/client-transport'],
  },
};

/** The row of the matrix that the recipe asks for. */
const ROW: BindingRow = {
  name: 'lines',
  versions: ['1.0'],
  serves: () => [linesBinding()],
  connect: async ({ host, path, version, options }) => {
    const card = host.agentCards[path];
    if (card === undefined) throw new Error(`No agent is at ${path}`);
    return connect(card, { ...options, bindings: [linesTransport()], binding: LINES, version });
  },
  // A line has no place for a version.
  without: () => [OTHER_VERSION],
};

it('a binding is added by the recipe: its files are those of the list, and break no rule of the house', () => {
  const listed = Array.from(recipe.matchAll(/^- `([^`]+)`/gm), ([, path = '']) => path);
  expect(listed.length).toBeGreaterThan(4);
  for (const path of files)
    expect(
      listed.some((place) => path.startsWith(place)),
      path,
    ).toBe(true);
  for (const place of listed.filter((one) => !one.startsWith('test/') && !one.includes('package.json')))
    expect(
      files.some((path) => path.startsWith(place)),
      place,
    ).toBe(true);
  const library = SourceTree.read(join(root, 'packages/parley/src'));
  const texts = Object.fromEntries([
    ...library.files.map(({ path, text }) => [path, text]),
    ...files.map((path) => [path, inLibrary(path)]),
  ]);
  const tree = SourceTree.of(texts);
  expect(roomViolations(tree, { ...ROOMS, ...ROOM })).toEqual([]);
  expect(wordViolations(tree)).toEqual([]);
  expect(importCycles(tree)).toEqual([]);
  expect(undocumentedExports(tree)).toEqual([]);
}, 120_000);

it('a binding by the recipe leads to the same outcomes as the others, in every scenario and refusal', async () => {
  const [reference] = BINDINGS;
  if (reference === undefined) throw new Error('The matrix has no reference');
  const storage = new MemoryStorage({ clock: systemClock });
  await using world = await World.start(storage, [reference, ROW]);
  const [expected, outcomes] = await Promise.all([outcomesOf(world, reference, '1.0'), outcomesOf(world, ROW, '1.0')]);
  for (const { name } of ALL.filter((one) => !one.name.endsWith(OTHER_VERSION)))
    expect.soft(outcomes.get(name), name).toEqual(expected.get(name));
  await storage.close();
}, 120_000);
