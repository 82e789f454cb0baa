// `npm test`: runs all checks, on a clean clone too. It lists the ten slowest test files, the seconds of all suites and
// the tests that failed. The last line is `N passed, N failed`. With `--long`, tests with a long form run it: they read
// TEST_LONG.
import { build } from './build.mjs';
import { check } from './check.mjs';
import { ensureInstalled } from './installation.mjs';
import { main } from './processes.mjs';
import { countLine, lanesOf, otherSuites, runOther, runVitest, slowestLines, slowRunLine, sum } from './suites.mjs';

await main(async () => {
  const env = process.argv.includes('--long') ? { TEST_LONG: '1' } : {};
  const began = performance.now();
  await ensureInstalled();
  await build();
  const results = [];
  results.push(await told('checks', check()));
  const tests = await told('tests', runVitest([], env));
  results.push(tests);
  const suites = [];
  const { lanes, alone } = lanesOf(otherSuites());
  const runLane = async (scripts) => {
    for (let script = scripts.shift(); script !== undefined; script = scripts.shift())
      suites.push({ file: script, ...(await told(script, runOther(script, env))) });
  };
  await Promise.all(lanes.map(runLane));
  await runLane(alone);
  results.push(...suites);
  const counts = sum(results);
  process.stdout.write(`${slowestLines(tests.slowest, suites)}\n`);
  const warning = slowRunLine((performance.now() - began) / 1_000, env);
  if (warning !== '') process.stdout.write(`${warning}\n`);
  for (const { failures = [] } of results) for (const line of failures) process.stdout.write(`${line}\n`);
  process.stdout.write(`${countLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
});

async function told(name, counting) {
  const began = performance.now();
  const counts = await counting;
  const seconds = (performance.now() - began) / 1_000;
  process.stdout.write(`${name}: ${countLine(counts)} in ${Math.round(seconds)} s\n`);
  return { ...counts, seconds };
}
