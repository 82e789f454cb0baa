// Runs real replicas under load and faults, on real databases. Afterwards a checker proves that no promise was broken.
// `npm run chaos` runs the long form with 200 faults. Options: --faults N, --seed N, --backends sqlite.
// The last line is `N passed, N failed`.
import { parseArgs } from 'node:util';
import { countLine, runVitest, sum } from '../../scripts/suites.mjs';

/** The backends, each with the program that it needs. */
const BACKENDS = {
  sqlite: undefined,
};
const LONG_FAULTS = 200;
const SHORT_FAULTS = 10;

const { values } = parseArgs({
  options: { faults: { type: 'string' }, seed: { type: 'string' }, backends: { type: 'string' } },
});
const seed = values.seed ?? String(Date.now() % 1_000_000);
const faults = values.faults ?? String(process.env.TEST_LONG ? LONG_FAULTS : SHORT_FAULTS);
const results = [];
for (const backend of values.backends?.split(',') ?? Object.keys(BACKENDS)) {
  process.stdout.write(
    `${backend}: ${faults} faults, again with --backends ${backend} --faults ${faults} --seed ${seed}\n`,
  );
  const env = { CHAOS_BACKEND: backend, CHAOS_FAULTS: faults, CHAOS_SEED: seed };
  results.push(await runVitest(['--config', 'test/chaos/vitest.config.ts'], env));
}
const counts = sum(results);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
