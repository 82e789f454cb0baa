// Runs test suites and counts their results.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ownNode, root, run, runOwn } from './processes.mjs';

/** A test with an endless loop cannot be ended by its own time limit. */
const LIMIT_MS = 38 * 60_000;
const LONG_LIMIT_MS = 4 * 3_600_000;
/** The time in which `npm test` should end. */
const WHOLE_RUN_SECONDS = 25 * 60;
const limitOf = (env) => (env.TEST_LONG === undefined ? LIMIT_MS : LONG_LIMIT_MS);

const vitest = join(root, 'node_modules/vitest/vitest.mjs');

/** Runs test files with vitest, by default all of them, counts the tests in its report, and says which failed. */
export async function runVitest(files = [], env = {}, node = ownNode) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-vitest-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const plain = process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: '0' };
    const { code } = await run(node, [vitest, 'run', ...reporters, ...files], {
      env: { ...plain, ...env },
      limitMs: limitOf(env),
    });
    const counts = countReport(report, code);
    for (const line of counts.failures) process.stdout.write(`${line}\n`);
    return counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countReport(report, code) {
  if (!existsSync(report))
    return { passed: 0, failed: 1, slowest: [], failures: ['FAILED vitest: it wrote no report'] };
  const {
    numPassedTests: passed,
    numFailedTests,
    numPendingTests,
    numTodoTests,
    testResults,
  } = JSON.parse(readFileSync(report, 'utf8'));
  // A file that does not even load has no failed test of its own.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const skipped = numPendingTests + numTodoTests;
  if (skipped > 0) process.stdout.write(`${skipped} tests were skipped\n`);
  const failed = numFailedTests + broken;
  // Vitest fails also for errors outside of all tests.
  return {
    passed,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    slowest: slowestFiles(testResults),
    failures: failuresOf(testResults),
  };
}

/** A line for each test that failed, and for each file that did not load: file, name of the test, first error. */
export function failuresOf(testResults) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const line = (title, error = '') =>
      `FAILED ${relative(root, name)}${title}: ${error.split('\n', 1)[0].slice(0, 200)}`;
    if (failed.length === 0) return status === 'failed' ? [line('', message)] : [];
    return failed.map(({ fullName, failureMessages }) => line(` > ${fullName}`, failureMessages[0]));
  });
}

/** The ten test files that took longest, slowest first, each with its seconds. */
export function slowestFiles(testResults) {
  return testResults
    .map(({ name, startTime, endTime }) => ({ file: relative(root, name), seconds: (endTime - startTime) / 1000 }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, 10);
}

/** The slowest files, then the suites with a runner of their own, slowest first, as lines of text. */
export function slowestLines(files, suites = []) {
  const line = ({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}`;
  const others = suites.toSorted((one, other) => other.seconds - one.seconds);
  return [
    'The slowest test files:',
    ...files.map(line),
    ...(others.length === 0 ? [] : ['The other suites:', ...others.map(line)]),
  ].join('\n');
}

/** A warning if the whole run took longer than its bound; empty if not. The long form has no bound. */
export function slowRunLine(seconds, env = {}) {
  if (env.TEST_LONG !== undefined || seconds <= WHOLE_RUN_SECONDS) return '';
  const [took, bound] = [seconds, WHOLE_RUN_SECONDS].map((all) => Math.ceil(all / 60));
  return `warning: the run took ${took} minutes, more than its bound of ${bound}. Make the slowest suites faster`;
}

/** Suites without vitest: `test/<name>/run.mjs`, whose last line is `N passed, N failed`. */
export function otherSuites() {
  const folders = readdirSync(join(root, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => `test/${name}/run.mjs`).filter((script) => existsSync(join(root, script)));
}

/** Suites that take minutes, the longest first. They begin before the others, so that none of them ends last. */
const LONG_SUITES = ['console', 'package', 'oldest-node', 'hosts', 's3', 'openapi', 'frameworks'].map(runnerOf);

function runnerOf(suite) {
  return `test/${suite}/run.mjs`;
}

/**
 * The order of suites. Those that start databases are first: they measure waits and takeovers, so that only one of them
 * runs at a time. The soak judges memory and times of a machine that is its own, so it comes last and alone.
 */
export function orderOf(scripts) {
  const rank = (script) => (startsDatabase(script) ? -1 : LONG_SUITES.indexOf(script) + 1 || LONG_SUITES.length + 1);
  const alone = scripts.filter((script) => script === runnerOf('soak'));
  const beside = scripts.filter((script) => !alone.includes(script)).sort((one, other) => rank(one) - rank(other));
  return { beside: beside.map((script) => ({ script, isDatabase: startsDatabase(script) })), alone };
}

function startsDatabase(script) {
  return /debianPackage: '(?:postgresql|redis-server)'/.test(readFileSync(join(root, script), 'utf8'));
}

/**
 * Runs jobs beside each other, in their order. A job takes one place or as many as it has workers. A job of a database
 * waits for another one, and lets those behind it begin.
 */
export async function runJobs(jobs, places) {
  const waiting = [...jobs];
  const running = new Map();
  while (waiting.length > 0 || running.size > 0) {
    for (let job = nextJob(waiting, [...running.keys()], places); job !== undefined; ) {
      waiting.splice(waiting.indexOf(job), 1);
      const started = job;
      running.set(
        started,
        started.run().finally(() => running.delete(started)),
      );
      job = nextJob(waiting, [...running.keys()], places);
    }
    await Promise.race(running.values());
  }
}

/** The first job that may begin beside those that run. */
export function nextJob(waiting, running, places) {
  const free = places - running.reduce((taken, { workers = 1 }) => taken + workers, 0);
  const hasDatabase = running.some(({ isDatabase }) => isDatabase);
  return waiting.find(({ workers = 1, isDatabase }) => workers <= free && !(isDatabase && hasDatabase));
}

/** Runs such a suite. A suite that breaks off has failed. A suite that counts nothing says why it was left out. */
export async function runOther(script, env = {}) {
  const { code, output } = await runOwn([script], { quiet: true, env, limitMs: limitOf(env) });
  process.stdout.write(output);
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  const found = /^(\d+) passed, (\d+) failed$/.exec(line.trim());
  const failures = output.split('\n').filter((text) => text.startsWith('FAILED '));
  if (found === null) return { passed: 0, failed: 1, failures: [...failures, `FAILED ${script}: it broke off`] };
  const counts = { passed: Number(found[1]), failed: Number(found[2]), failures };
  return counts.failed === 0 && code !== 0 ? { ...counts, failed: 1 } : counts;
}

/** The sum of all counts. */
export function sum(counts) {
  return counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), {
    passed: 0,
    failed: 0,
  });
}

/** The last line of every suite. */
export function countLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`;
}
