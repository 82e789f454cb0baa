import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}/docs/compare.md`, 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:---|you need|topic|framework) \|/.test(line));

it('the comparison has rows', () => {
  expect(rows.length).toBeGreaterThan(25);
});

it.each(rows)('shows %s by a test, a figure or a page', (row) => {
  const shown = row.split(' | ').at(-1) ?? '';
  const tests = Array.from(shown.matchAll(/`([^`]+)`/g), ([, path = '']) => path);
  expect(tests.filter((path) => !path.startsWith('test/') || !existsSync(`${root}/${path}`))).toEqual([]);
  expect(tests.length + (shown.match(/\]\(/g) ?? []).length).toBeGreaterThan(0);
});

/** A rate of the page, and the same one in a cell of docs/performance.md. */
const RATES = [
  ['21,900', '21.9 k req/s'],
  ['7,900', '7873 req/s'],
  ['4,400', '4423 req/s'],
  ['785', '785 req/s'],
  ['409', '409 req/s'],
  ['29,800', '29.8 k req/s'],
  ['21,500', '21.5 k req/s'],
  ['9,200', '9206 req/s'],
  ['416', '416 req/s'],
] as const;

it.each(RATES)('the rate %s is measured: %s', (told, measured) => {
  expect(page).toContain(told);
  expect(readFileSync(`${root}/docs/performance.md`, 'utf8')).toContain(`| ${measured} `);
});

it('names of Parley on the page about moving are in the public types', () => {
  const types = [...globSync(`${root}/packages/*/api.txt`), `${root}/docs/configuration.md`]
    .map((path) => readFileSync(path, 'utf8'))
    .join('');
  const known = new Set(types.match(/\w+/g));
  const cells = readFileSync(`${root}/docs/migration.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split(/(?<!\\)\|/).at(-2) ?? '');
  const names = cells.flatMap((cell) =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = '']) => code).flatMap(
      (code) => code.match(/\b[a-z]\w{3,}/gi) ?? [],
    ),
  );
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !known.has(name) && name !== 'throw')).toEqual([]);
});
