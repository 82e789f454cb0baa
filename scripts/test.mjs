// `npm test`: runs all checks, on a clean clone too. The ten slowest test files come before the
// last line, which is `N passed, N failed`. With `--long`, tests with a long form run it: they read TEST_LONG.
import { build } from './build.mjs';
import { check } from './check.mjs';
import { ensureInstalled } from './installation.mjs';
import { main } from './processes.mjs';
import { countLine, otherSuites, runOther, runVitest, slowestLines, sum } from './suites.mjs';

await main(async () => {
  const env = process.argv.includes('--long') ? { TEST_LONG: '1' } : {};
  await ensureInstalled();
  await build();
  const results = [];
  results.push(await told('checks', check()));
  const tests = await told('tests', runVitest([], env));
  results.push(tests);
  for (const script of otherSuites()) results.push(await told(script, runOther(script, env)));
  const counts = sum(results);
  process.stdout.write(`${slowestLines(tests.slowest)}\n`);
  process.stdout.write(`${countLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
});

async function told(name, counting) {
  const began = performance.now();
  const counts = await counting;
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${name}: ${countLine(counts)} in ${seconds} s\n`);
  return counts;
}
