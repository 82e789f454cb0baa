import { expect, it } from 'vitest';

const suites: string = new URL('../../scripts/suites.mjs', import.meta.url).href;

interface Slow {
  readonly file: string;
  readonly seconds: number;
}

const scripts = (await import(suites)) as {
  slowestFiles(results: readonly object[]): readonly Slow[];
  failuresOf(results: readonly object[]): readonly string[];
  slowestLines(files: readonly Slow[], suites?: readonly Slow[]): string;
  slowRunLine(seconds: number, env?: Readonly<Record<string, string>>): string;
  otherSuites(): readonly string[];
  lanesOf(scripts: readonly string[]): { lanes: readonly (readonly string[])[]; alone: readonly string[] };
};
const { slowestFiles, failuresOf, slowestLines, slowRunLine, otherSuites, lanesOf } = scripts;

it('npm test lists the ten slowest test files, the slowest first', () => {
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

it('npm test names each failed test and each file that did not load', () => {
  const root = new URL('../../', import.meta.url).pathname;
  const results = [
    { name: `${root}a.test.ts`, status: 'passed', assertionResults: [{ status: 'passed', fullName: 'x' }] },
    { name: `${root}b.test.ts`, status: 'failed', message: 'No such module\nat b', assertionResults: [] },
    {
      name: `${root}c.test.ts`,
      status: 'failed',
      message: '',
      assertionResults: [
        { status: 'passed', fullName: 'y' },
        { status: 'failed', fullName: 'c is read', failureMessages: ['AssertionError: 1\n    at c'] },
      ],
    },
  ];
  expect(failuresOf(results)).toEqual([
    'FAILED b.test.ts: No such module',
    'FAILED c.test.ts > c is read: AssertionError: 1',
  ]);
});

it('npm test lists the seconds of all suites with a runner of their own, the slowest first', () => {
  const suite = (name: string, seconds: number): Slow => ({ file: `test/${name}/run.mjs`, seconds });
  const lines = slowestLines([{ file: 'a.test.ts', seconds: 3 }], [suite('s3', 7.06), suite('hosts', 81)]);
  expect(lines.split('\n')).toEqual([
    'The slowest test files:',
    '     3.0 s  a.test.ts',
    'The other suites:',
    '    81.0 s  test/hosts/run.mjs',
    '     7.1 s  test/s3/run.mjs',
  ]);
});

it('npm test warns of a run of more than 35 minutes, unless it is the long form', () => {
  const bound = 35 * 60;
  expect(slowRunLine(bound)).toBe('');
  expect(slowRunLine(bound + 1)).toBe(
    'warning: the run took 36 minutes, more than the 35 of CI. Make the slowest suites faster',
  );
  expect(slowRunLine(4 * bound, { TEST_LONG: '1' })).toBe('');
});

it('npm test runs each suite once: databases in one lane, two lanes that share the others, the soak alone', () => {
  const { lanes, alone } = lanesOf(otherSuites());
  const [databases, others, sharing] = lanes;
  expect(sharing).toBe(others);
  expect([...(databases ?? []), ...(others ?? []), ...alone].toSorted()).toEqual(otherSuites().toSorted());
  expect(alone).toEqual(['test/soak/run.mjs']);
  expect(databases).toContain('test/postgres/run.mjs');
  expect(others).toContain('test/interop/run.mjs');
});
