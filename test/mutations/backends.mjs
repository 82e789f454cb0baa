// The storages, each with the tests that ask the rules, and with the program or the packages that it needs.

const redis = {
  command: ['redis-server', '--version'],
  debianPackage: 'redis-server',
  leftOut: 'Faults in the rules for the storage in Redis are',
};
const postgres = {
  command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'],
  debianPackage: 'postgresql',
  leftOut: 'Faults in the rules for the storage in PostgreSQL are',
};

/** Databases answer claims by statements of their own. Property tests run these against the rules. */
const testsIn = (suite, names) => [
  ...['--config', `test/${suite}/vitest.config.ts`],
  ...names.map((name) => `test/${suite}/${name}.test.ts`),
];

export const BACKENDS = {
  memory: { args: ['test/contract/memory.test.ts'] },
  sqlite: { args: ['test/contract/sqlite.test.ts'] },
  redis: { args: testsIn('redis', ['contract', 'claim-rules', 'row-rules', 'same-answers']), program: redis },
  postgres: {
    args: testsIn('postgres', ['contract', 'claim-rules', 'delivery-rules', 'row-rules', 'same-answers']),
    program: postgres,
  },
  'durable-object': {
    args: testsIn('durable-object', ['contract']),
    packages: 'Faults in the rules for Durable Objects are',
  },
};
