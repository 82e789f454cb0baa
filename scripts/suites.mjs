// Runs test suites and counts their results.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownNode, root, run, runOwn, temporaryFolder } from './processes.mjs';

/** Longest time without output of a suite, because a test with an endless loop cannot be ended by its own limit. */
const SILENCE_MS = 10 * 60_000;
/** In the long form one test alone takes most of an hour. */
const LONG_SILENCE_MS = 3_600_000;
/** The time that a suite has longer than the runs that it starts, which tell more when they are ended. */
const LATER_MS = 60_000;
/** The time in which `npm test` should end. */
const WHOLE_RUN_SECONDS = 25 * 60;
const silenceOf = (env) => ((env.TEST_LONG ?? process.env.TEST_LONG) === undefined ? SILENCE_MS : LONG_SILENCE_MS);

const vitest = join(root, 'node_modules/vitest/vitest.mjs');

/** Runs test files with vitest, by default all of them. Counts the tests, says which failed, and which file hung. */
export async function runVitest(files = [], env = {}, { node = ownNode, silenceMs = silenceOf(env) } = {}) {
  const report = join(temporaryFolder('vitest'), 'report.jsonl');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts/vitest-report.mjs')}`];
  const { code } = await run(node, [vitest, 'run', ...reporters, ...files], {
    env: { ...colours(), ...env, VITEST_REPORT_FILE: report },
    silenceMs,
  });
  const counts = countReport(existsSync(report) ? readFileSync(report, 'utf8') : '', code);
  if (counts.skipped > 0) process.stdout.write(`${counts.skipped} tests were skipped\n`);
  for (const line of counts.failures) process.stdout.write(`${line}\n`);
  return counts;
}

/** Vitest writes to a pipe. It has colours if that ends in a terminal. */
function colours() {
  return process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1', FORCE_COLOR: '0' };
}

/** The counts of a report of vitest-report.mjs, also of one that ends early. */
export function countReport(report, code) {
  const lines = report.split('\n').filter((line) => line.endsWith('}'));
  const entries = lines.map((line) => JSON.parse(line));
  const ended = entries.filter((entry) => entry.ended !== undefined);
  const total = (count) => ended.reduce((all, entry) => all + entry[count], 0);
  const failures = entries.flatMap(({ failure }) => failure ?? []);
  const files = new Set(ended.map((entry) => entry.ended));
  const hanging = entries.flatMap(({ begun }) => (begun === undefined || files.has(begun) ? [] : begun));
  failures.push(...hanging.map((file) => `FAILED ${file}: it had not ended`));
  if (entries.length === 0) failures.push('FAILED vitest: it wrote no report');
  return {
    passed: total('passed'),
    // Vitest fails also for errors outside of all tests.
    failed: Math.max(total('failed') + hanging.length, code === 0 ? 0 : 1),
    skipped: total('skipped'),
    slowest: slowestFiles(ended),
    failures,
  };
}

/** A test of a JUnit report that has failed. */
const JUNIT_FAULT = /<(?:failure|error)\b/;

/**
 * The counts of a JUnit report. Tests that failed with the same message share a line, such as all tests of a server
 * that did not start.
 */
export function countJunit(name, report, code) {
  const cases = report.split('<testcase ').slice(1);
  const failed = cases.filter((text) => JUNIT_FAULT.test(text));
  const skipped = cases.filter((text) => text.includes('<skipped'));
  const byMessage = new Map();
  for (const text of failed) {
    const message = attributeIn(text.slice(text.search(JUNIT_FAULT)), 'message').split('\n')[0];
    byMessage.set(message, [...(byMessage.get(message) ?? []), attributeIn(text, 'name')]);
  }
  const failures = Array.from(byMessage, ([message, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `FAILED ${name} > ${first}${more}: ${message}`;
  });
  if (failed.length === 0 && code !== 0) failures.push(`FAILED ${name}: it ended with ${code}`);
  return {
    passed: cases.length - failed.length - skipped.length,
    failed: Math.max(failed.length, code === 0 ? 0 : 1),
    failures,
  };
}

/** The text of the first attribute with a name. */
function attributeIn(xml, name) {
  const named = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };
  const [, text = ''] = new RegExp(`\\b${name}="([^"]*)"`).exec(xml) ?? [];
  return text.replace(/&(?:#(x?)(\w+)|(\w+));/g, (_, hex, code, entity) =>
    entity === undefined ? String.fromCodePoint(Number.parseInt(code, hex ? 16 : 10)) : named[entity],
  );
}

/** The ten test files that took longest, slowest first, each with its seconds. */
function slowestFiles(ended) {
  return ended
    .map(({ ended: file, seconds }) => ({ file, seconds }))
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

/**
 * Runs such a suite. Its failures are shown at once, all of its output when it ends. A suite that breaks off has
 * failed. A suite that counts nothing says why it was left out.
 */
export async function runOther(script, env = {}) {
  const { code, output } = await runOwn([script], {
    quiet: true,
    onLine: (line) => line.startsWith('FAILED ') && process.stdout.write(`${line}\n`),
    env,
    silenceMs: silenceOf(env) + LATER_MS,
  });
  process.stdout.write(output);
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  const found = /^(\d+) passed, (\d+) failed$/.exec(line.trim());
  const failures = [...new Set(output.split('\n').filter((text) => text.startsWith('FAILED ')))];
  if (found === null) return { passed: 0, failed: 1, failures: [...failures, `FAILED ${script}: it broke off`] };
  const [passed, counted] = [Number(found[1]), Number(found[2])];
  const failed = counted === 0 && code !== 0 ? 1 : counted;
  if (failed > 0 && failures.length === 0) failures.push(`FAILED ${script}: it did not name what failed`);
  return { passed, failed, failures };
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
