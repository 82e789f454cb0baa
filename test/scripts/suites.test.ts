import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ViteUserConfig } from 'vitest/config';

const suites: string = new URL('../../scripts/suites.mjs', import.meta.url).href;

interface Slow {
  readonly file: string;
  readonly seconds: number;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly slowest: readonly Slow[];
  readonly failures: readonly string[];
}

const scripts = (await import(suites)) as {
  countReport(report: string, code: number): Counts;
  countJunit(name: string, report: string, code: number): Omit<Counts, 'skipped' | 'slowest'>;
  runOther(script: string): Promise<Omit<Counts, 'skipped' | 'slowest'>>;
  slowestLines(files: readonly Slow[], suites?: readonly Slow[]): string;
  slowRunLine(seconds: number, env?: Readonly<Record<string, string>>): string;
  otherSuites(): readonly string[];
  orderOf(scripts: readonly string[]): {
    beside: readonly { readonly script: string; readonly isDatabase: boolean }[];
    alone: readonly string[];
  };
  runJobs(jobs: readonly Job[], places: number): Promise<void>;
};
const { countReport, countJunit, runOther, slowestLines, slowRunLine, otherSuites, orderOf, runJobs } = scripts;

interface Job {
  readonly workers?: number;
  readonly isDatabase?: boolean;
  readonly run: () => Promise<void>;
}

const lines = (entries: readonly object[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

it('npm test lists the ten slowest test files, the slowest first', () => {
  const report = Array.from({ length: 12 }, (_, at) => ({
    ended: `test/${at}.test.ts`,
    ...{ passed: 1, failed: 0, skipped: 0 },
    seconds: ((at * 5) % 12) * 1.5,
  }));
  const { slowest } = countReport(lines(report), 0);
  expect(slowest.map(({ seconds }) => seconds)).toEqual([16.5, 15, 13.5, 12, 10.5, 9, 7.5, 6, 4.5, 3]);
  expect(slowestLines(slowest).split('\n').slice(0, 2)).toEqual([
    'The slowest test files:',
    '    16.5 s  test/7.test.ts',
  ]);
});

describe('a run of vitest', () => {
  const folder = mkdtempSync(fileURLToPath(new URL('./run-', import.meta.url)));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const files = {
    'good.test.ts': "it('holds', () => {}); it.skip('is left out', () => {});",
    'bad.test.ts': "it('holds', () => {}); it('is wrong', () => expect(1).toBe(2));",
    'broken.test.ts': "import './absent.js';",
    'vitest.config.mjs': "export default { test: { include: ['*.test.ts'], globals: true, fileParallelism: false } };",
  };

  const play = async (more: Readonly<Record<string, string>>, silenceMs: number, onOutput = (_: string) => {}) => {
    for (const [name, text] of Object.entries({ ...files, ...more })) writeFileSync(join(folder, name), text);
    const script = `
      import { runVitest } from ${JSON.stringify(suites)};
      const root = '--root=' + ${JSON.stringify(folder)};
      const counts = await runVitest([root, '--config', 'vitest.config.mjs'], {}, { silenceMs: ${silenceMs} });
      process.stdout.write('COUNTS ' + JSON.stringify(counts) + '\\n');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        onOutput(output);
      });
    await once(child, 'close');
    const counts = /^COUNTS (.*)$/m.exec(output)?.[1];
    return { output, counts: JSON.parse(counts ?? '{}') as Partial<Counts> };
  };
  const place = relative(fileURLToPath(new URL('../../', import.meta.url)), folder);

  it('counts its tests, and names each failed test and each file that does not load', async () => {
    const { counts } = await play({}, 60_000);
    expect(counts).toMatchObject({ passed: 2, failed: 2, skipped: 1 });
    expect(counts.failures?.toSorted()).toEqual([
      expect.stringMatching(`^FAILED ${place}/bad.test.ts > is wrong: .*expected 1 to be 2`),
      expect.stringMatching(`^FAILED ${place}/broken.test.ts: .*absent`),
    ]);
  });

  it('that hangs is ended after a time of silence; what passed is counted, and the file that hung is named', async () => {
    let seen = '';
    const { output, counts } = await play({ 'hang.test.ts': "it('loops', () => { for (;;); });" }, 8_000, (text) => {
      if (seen === '' && text.includes('is wrong')) seen = text;
    });
    expect(output).toContain('min without a word: it hangs');
    expect(counts).toMatchObject({ passed: 2, failed: 3 });
    expect(counts.failures).toContain(`FAILED ${place}/hang.test.ts: it had not ended`);
    expect(seen).not.toContain('it hangs');
  });
});

describe('a suite with another runner', () => {
  const junit = (...cases: readonly string[]) =>
    `<testsuites><testsuite name="pytest">${cases.join('')}</testsuite></testsuites>`;
  const passed = '<testcase classname="calls" name="holds" time="1.973" />';
  const failed = (name: string, message: string, tag = 'failure') =>
    `<testcase classname="calls" name="${name}" time="0.1"><${tag} message="${message}">a trace</${tag}></testcase>`;

  it('names each failed test of its report, and a message that many share once', () => {
    const report = junit(
      passed,
      failed('is &lt;wrong&gt;', 'assert &quot;a&quot; == &#x27;b&#39;&#10;a second line'),
      failed('one', 'the server ended', 'error'),
      failed('two', 'the server ended', 'error'),
      failed('three', 'the server ended', 'error'),
      '<testcase classname="calls" name="left out" time="0"><skipped message="no Go" /></testcase>',
    );
    expect(countJunit('python', report, 1)).toEqual({
      passed: 1,
      failed: 4,
      failures: [`FAILED python > is <wrong>: assert "a" == 'b'`, 'FAILED python > one and 2 more: the server ended'],
    });
  });

  it('has failed if it wrote no report, or ended with an error though no test failed', () => {
    const failures = ['FAILED python: it ended with 2'];
    expect(countJunit('python', '', 2)).toEqual({ passed: 0, failed: 1, failures });
    expect(countJunit('python', junit(passed), 2)).toEqual({ passed: 1, failed: 1, failures });
    expect(countJunit('python', junit(passed), 0)).toEqual({ passed: 1, failed: 0, failures: [] });
  });

  it.each([
    ['console.log("2 passed, 3 failed")', 3, 'it did not name what failed'],
    ['console.log("2 passed, 0 failed"); process.exitCode = 4', 1, 'it did not name what failed'],
    ['console.log("FAILED x: it is not y\\n2 passed, 1 failed")', 1, 'x: it is not y'],
    ['console.log("half of it")', 1, 'it broke off'],
  ])('that ends with %s is named among what failed', async (code, count, said) => {
    const script = join(mkdtempSync(join(tmpdir(), 'parley-suite-')), 'run.mjs');
    onTestFinished(() => rmSync(join(script, '..'), { recursive: true }));
    writeFileSync(script, code);
    // Its output is no output of these tests.
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const { failed, failures } = await runOther(script).finally(() => written.mockRestore());
    expect(failed).toBe(count);
    expect(failures).toEqual([expect.stringMatching(`^FAILED .*${said}$`)]);
  });
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

it('a signal ends all running suites, removes temporary folders, and no other suite begins', async () => {
  const processes = new URL('../../scripts/processes.mjs', import.meta.url).href;
  const script = `
    import { run, temporaryFolder } from ${JSON.stringify(processes)};
    const silenceMs = 600_000;
    console.log(temporaryFolder('signal'));
    const quick = run(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], { silenceMs });
    const late = "process.on('SIGTERM', () => setTimeout(() => { console.log('late'); process.exit(1) }, 300))";
    run(process.execPath, ['-e', late + '; setInterval(() => {}, 1000); console.log("up")'], { silenceMs });
    await quick;
    await run(process.execPath, ['-e', 'console.log("begun after the signal")'], { silenceMs });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.endsWith('up\nup\n')) child.kill('SIGTERM');
  });
  const [code] = await once(child, 'close');
  const [folder = '', ...rest] = output.split('\n');
  expect([code, ...rest]).toEqual([143, 'up', 'up', 'late', '']);
  expect(folder).toContain('parley-signal-');
  expect(existsSync(folder)).toBe(false);
});

it.runIf(process.platform === 'linux')('a signal ends what a suite has started in a group of its own', async () => {
  const processes = new URL('../../scripts/processes.mjs', import.meta.url).href;
  const server = "console.log('pid ' + process.pid); setInterval(() => {}, 1000); process.on('SIGINT', () => {})";
  const suite = `
    const { spawn } = require('node:child_process');
    spawn(process.execPath, ['-e', ${JSON.stringify(server)}], { detached: true, stdio: 'inherit' });
    process.on('SIGINT', () => process.exit());`;
  const script = `
    import { run } from ${JSON.stringify(processes)};
    await run(process.execPath, ['-e', ${JSON.stringify(suite)}], { silenceMs: 600_000 });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const pid = Number(line.slice(4));
  onTestFinished(() => {
    if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  });
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect(code).toBe(130);
  // The parent of orphans may leave it there as a zombie.
  const isOver = () => !existsSync(`/proc/${pid}`) || /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  expect(isOver()).toBe(true);
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

it('tests of a suite with a configuration of its own run in that suite alone', async () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const repository = readFileSync(`${root}vitest.config.ts`, 'utf8');
  for (const path of globSync('test/*/vitest.config.ts', { cwd: root })) {
    const { default: config } = (await import(join(root, path))) as { default: ViteUserConfig };
    const folder = relative('.', join(path, '..', '/')).replaceAll('\\', '/');
    const hasOwn = config.test?.include?.some((pattern) => pattern.startsWith(folder)) === true;
    if (hasOwn) expect([folder, repository.includes(`'${folder}/`)]).toEqual([folder, true]);
  }
});
