// The storages, each with the tests that ask the rules, and with the program that it needs.

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

export const BACKENDS = {
  memory: { args: ['test/contract/memory.test.ts'] },
  sqlite: { args: ['test/contract/sqlite.test.ts'] },
  redis: { args: ['--config', 'test/redis/vitest.config.ts', 'test/redis/contract.test.ts'], program: redis },
  postgres: {
    args: ['--config', 'test/postgres/vitest.config.ts', 'test/postgres/contract.test.ts'],
    program: postgres,
  },
};
