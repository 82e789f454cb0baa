import { expect, it } from 'vitest';

const suites: string = new URL('../../scripts/suites.mjs', import.meta.url).href;

interface Slow {
  readonly file: string;
  readonly seconds: number;
}

it('npm test lists the ten slowest test files, the slowest first', async () => {
  const { slowestFiles, slowestLines } = (await import(suites)) as {
    slowestFiles(results: readonly object[]): readonly Slow[];
    slowestLines(files: readonly Slow[]): string;
  };
  const root = new URL('../../', import.meta.url).pathname;
  const results = Array.from({ length: 12 }, (_, at) => ({
    name: `${root}test/${at}.test.ts`,
    startTime: 1000,
    endTime: 1000 + ((at * 5) % 12) * 1500,
  }));
  const slowest = slowestFiles(results);
  expect(slowest.map(({ seconds }) => seconds)).toEqual([16.5, 15, 13.5, 12, 10.5, 9, 7.5, 6, 4.5, 3]);
  expect(slowestLines(slowest).split('\n').slice(0, 2)).toEqual([
    'The slowest test files:',
    '    16.5 s  test/7.test.ts',
  ]);
});
