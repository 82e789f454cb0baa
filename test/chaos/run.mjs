// Runs real replicas under load and faults, on real databases. Then a checker searches for broken promises.
// `npm run chaos` runs the long form with 200 faults. Options: --faults N, --seed N, --backends postgres,redis.
// The last line is `N passed, N failed`.
import { parseArgs } from 'node:util';
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest, sum } from '../../scripts/suites.mjs';

const postgres = {
  command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'],
  debianPackage: 'postgresql',
  leftOut: 'Replicas under faults on PostgreSQL are',
};
const pooler = {
  command: ['pgbouncer', '--version'],
  debianPackage: 'pgbouncer',
  leftOut: 'Replicas under faults behind a pooler are',
};
const redis = {
  command: ['redis-server', '--version'],
  debianPackage: 'redis-server',
  leftOut: 'Replicas under faults on Redis are',
};
/** The backends, each with the programs that it needs. A file of SQLite has one replica, and no fault of its own. */
const BACKENDS = {
  sqlite: [],
  postgres: [postgres],
  'postgres-partitioned': [postgres],
  'postgres-pooled': [postgres, pooler],
  redis: [redis],
  'redis-cluster': [redis],
};
const CHOSEN = process.env.TEST_LONG
  ? ['postgres', 'postgres-partitioned', 'postgres-pooled', 'redis', 'redis-cluster']
  : ['postgres', 'redis'];
const LONG_FAULTS = 200;
const SHORT_FAULTS = 6;

const USAGE = `npm run chaos -- [options]
Runs replicas under load and faults, on real databases, and checks that no promise was broken.

  --faults N      faults on each database (default ${LONG_FAULTS}; ${SHORT_FAULTS} in npm test)
  --seed N        the seed of a run, to repeat it (default: a new one)
  --backends A,B  databases: ${Object.keys(BACKENDS).join(', ')} (default ${CHOSEN.join(', ')})
  --help          this text
`;
const values = optionsOf(process.argv.slice(2));
if (values.help) {
  process.stdout.write(USAGE);
  process.exit();
}
const seed = values.seed ?? String(Date.now() % 1_000_000);
const faults = values.faults ?? String(process.env.TEST_LONG ? LONG_FAULTS : SHORT_FAULTS);
const results = [];
for (const backend of values.backends?.split(',') ?? CHOSEN) {
  const programs = BACKENDS[backend];
  if (!(await haveAll(programs))) continue;
  process.stdout.write(
    `${backend}: ${faults} faults, again with --backends ${backend} --faults ${faults} --seed ${seed}\n`,
  );
  const long = process.env.TEST_LONG === undefined ? {} : { TEST_LONG: process.env.TEST_LONG };
  const env = { CHAOS_BACKEND: backend, CHAOS_FAULTS: faults, CHAOS_SEED: seed, ...long };
  results.push(await runVitest(['--config', 'test/chaos/vitest.config.ts'], env));
}
const counts = sum(results);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

/** The options. Wrong ones end the process with a line that says so, and the usage. */
function optionsOf(args) {
  try {
    const { values: given } = parseArgs({
      args,
      options: {
        faults: { type: 'string' },
        seed: { type: 'string' },
        backends: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    for (const name of ['faults', 'seed'])
      if (!/^\d{1,9}$/.test(given[name] ?? '0')) throw new Error(`--${name} takes a number`);
    const unknown = given.backends?.split(',').find((name) => BACKENDS[name] === undefined);
    if (unknown !== undefined) throw new Error(`--backends does not know ${unknown}`);
    return given;
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function haveAll(programs) {
  for (const program of programs) if (!(await hasProgram(program))) return false;
  return true;
}
