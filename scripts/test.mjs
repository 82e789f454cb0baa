// `npm test`: runs all checks, on a clean clone too. It lists the ten slowest test files, the seconds of all suites and
// the tests that failed. The last line is `N passed, N failed`. With `--long`, tests with a long form run it: they read
// TEST_LONG. `npm test -- FILE` runs files of vitest alone, with its options.
import { join } from 'node:path';
import { build } from './build.mjs';
import { check } from './check.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, root } from './processes.mjs';
import { environmentOf } from './python-environment.mjs';
import {
  countLine,
  orderOf,
  otherSuites,
  runJobs,
  runOther,
  runVitest,
  slowestLines,
  slowRunLine,
  sum,
} from './suites.mjs';

/**
 * Places for suites that run beside each other. They wait much of their time, so that there is one more than cores on a
 * machine with two. More would disturb tests that judge times.
 */
const PLACES = 3;
/** Test files that vitest runs at once: `maxWorkers` in vitest.config.ts. */
const VITEST_WORKERS = 2;

/** Python packages that take long to arrive, in the order in which suites need them. */
const PYTHON_PACKAGES = [
  's3',
  'frameworks/python/google-adk',
  'frameworks/python/strands',
  'frameworks/python/fasta2a',
  'openapi',
  'interop/python',
  'interop/python-0.3',
].map((folder) => join(root, 'test', folder, 'requirements.txt'));

const USAGE = `npm test -- [options] [files]

Runs all checks, the tests and the suites of test/. It names each failure at once, and all of them at the end.

  --long     the long forms too (hours)
  FILE ...   these files of vitest alone, with its options; suites have their own: node test/NAME/run.mjs
`;

await main(async () => {
  const [, , ...args] = process.argv;
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const env = args.includes('--long') ? { TEST_LONG: '1' } : {};
  const files = args.filter((arg) => arg !== '--long');
  const began = performance.now();
  await ensureInstalled();
  await build();
  if (files.length > 0) {
    const counts = await runVitest(files, env);
    process.stdout.write(`${countLine(counts)}\n`);
    return counts.failed === 0 ? 0 : 1;
  }
  const results = [];
  const suites = [];
  let slowest = [];
  const runTests = async () => {
    const tests = await told('tests', runVitest([], env));
    slowest = tests.slowest;
    results.push(tests);
  };
  const runSuite = async (script) => {
    const counts = await told(script, runOther(script, env));
    suites.push({ file: script, ...counts });
    results.push(counts);
  };
  const { beside, alone } = orderOf(otherSuites());
  const suiteJobs = beside.map(({ script, isDatabase }) => ({ isDatabase, run: () => runSuite(script) }));
  const checkJob = { run: async () => results.push(await told('checks', check())) };
  // It waits for the network, and the first suites use none of it.
  const packagesJob = { workers: 0, run: installPython };
  await runJobs([packagesJob, { workers: VITEST_WORKERS, run: runTests }, checkJob, ...suiteJobs], PLACES);
  for (const script of alone) await runSuite(script);
  const counts = sum(results);
  process.stdout.write(`${slowestLines(slowest, suites)}\n`);
  const warning = slowRunLine((performance.now() - began) / 1_000, env);
  if (warning !== '') process.stdout.write(`${warning}\n`);
  for (const { failures = [] } of results) for (const line of failures) process.stdout.write(`${line}\n`);
  process.stdout.write(`${countLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
});

/** A suite that lacks its packages says so itself. */
async function installPython() {
  for (const requirements of PYTHON_PACKAGES) await environmentOf(requirements);
}

async function told(name, counting) {
  const began = performance.now();
  const counts = await counting;
  const seconds = (performance.now() - began) / 1_000;
  process.stdout.write(`${name}: ${countLine(counts)} in ${Math.round(seconds)} s\n`);
  return { ...counts, seconds };
}
