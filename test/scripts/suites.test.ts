import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { ViteUserConfig } from 'vitest/config';

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
  orderOf(scripts: readonly string[]): {
    beside: readonly { readonly script: string; readonly isDatabase: boolean }[];
    alone: readonly string[];
  };
  runJobs(jobs: readonly Job[], places: number): Promise<void>;
};
const { slowestFiles, failuresOf, slowestLines, slowRunLine, otherSuites, orderOf, runJobs } = scripts;

interface Job {
  readonly workers?: number;
  readonly isDatabase?: boolean;
  readonly run: () => Promise<void>;
}

it('npm test lists the ten slowest test files, the slowest first', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
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
  const root = fileURLToPath(new URL('../../', import.meta.url));
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

it('npm test warns of a run of more than 25 minutes, unless it is the long form', () => {
  const bound = 25 * 60;
  expect(slowRunLine(bound)).toBe('');
  expect(slowRunLine(bound + 1)).toBe(
    'warning: the run took 26 minutes, more than its bound of 25. Make the slowest suites faster',
  );
  expect(slowRunLine(4 * bound, { TEST_LONG: '1' })).toBe('');
});

it('npm test runs each suite once: those with databases first, then long ones, the soak alone', () => {
  const { beside, alone } = orderOf(otherSuites());
  expect([...beside.map(({ script }) => script), ...alone].toSorted()).toEqual(otherSuites().toSorted());
  expect(alone).toEqual(['test/soak/run.mjs']);
  const databases = beside.filter(({ isDatabase }) => isDatabase);
  expect(beside.slice(0, databases.length)).toEqual(databases);
  expect(databases).toContainEqual({ script: 'test/postgres/run.mjs', isDatabase: true });
  expect(beside[databases.length]).toEqual({ script: 'test/console/run.mjs', isDatabase: false });
});

it('jobs run beside each other as far as there are places, and one database at a time', async () => {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const job = (name: string, rules: Omit<Job, 'run'> = {}): Job => ({
    ...rules,
    run: async () => {
      log.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    },
  });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
    return log.splice(0);
  };
  const isDatabase = true;
  const jobs = [
    job('vitest', { workers: 2 }),
    job('pg', { isDatabase }),
    job('redis', { isDatabase }),
    job('a'),
    job('b'),
    job('idle', { workers: 0 }),
  ];
  const done = runJobs(jobs, 3);
  expect(log.splice(0)).toEqual(['vitest', 'pg', 'idle']);
  expect(await end('vitest')).toEqual(['a', 'b']);
  expect(await end('a')).toEqual([]);
  expect(await end('pg')).toEqual(['redis']);
  expect(await end('b')).toEqual([]);
  await end('redis');
  await end('idle');
  await done;
});

it('a signal ends all running suites, and no other one begins', async () => {
  const processes = new URL('../../scripts/processes.mjs', import.meta.url).href;
  const script = `
    import { run } from ${JSON.stringify(processes)};
    const limitMs = 600_000;
    const quick = run(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], { limitMs });
    const late = "process.on('SIGTERM', () => setTimeout(() => { console.log('late'); process.exit(1) }, 300))";
    run(process.execPath, ['-e', late + '; setInterval(() => {}, 1000); console.log("up")'], { limitMs });
    await quick;
    await run(process.execPath, ['-e', 'console.log("begun after the signal")'], { limitMs });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output === 'up\nup\n') child.kill('SIGTERM');
  });
  const [code] = await once(child, 'close');
  expect([code, output]).toEqual([143, 'up\nup\nlate\n']);
});

it('a suite with a configuration of its own runs its own files, not those of all other tests', async () => {
  const tests = fileURLToPath(new URL('../', import.meta.url));
  const configs = globSync(`${tests}*/vitest.config.ts`);
  expect(configs.length).toBeGreaterThan(10);
  for (const path of configs) {
    const { default: config } = (await import(path)) as { default: ViteUserConfig };
    expect([path, config.test?.projects]).toEqual([path, undefined]);
    expect(config.test?.include).not.toEqual([]);
  }
});
