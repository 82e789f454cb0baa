import type { StoragePart } from './part.js';
import type { Choice } from './questions.js';

const DATABASE = 'DATABASE_URL';

/** Every storage of tasks. */
export const STORAGES: Readonly<Record<Choice<'storage'>, StoragePart>> = {
  sqlite: {
    summary: 'Tasks are in `data/parley.db`, and survive a restart.',
    imports: { 'parley-a2a': ['openStorage'] },
    opening: 'openStorage(config.databaseUrl)',
    writesData: true,
    variables: [{ name: DATABASE, meaning: 'storage of tasks', example: 'sqlite:./data/parley.db' }],
  },
  postgres: {
    summary: 'Tasks are in PostgreSQL if `DATABASE_URL` names it, and otherwise in `data/parley.db`.',
    packages: ['parley-a2a-postgres'],
    imports: { 'parley-a2a': ['openStorage'], 'parley-a2a-postgres': ['postgresBackend'] },
    opening: 'openStorage(config.databaseUrl, { backends: [postgresBackend] })',
    variables: [
      {
        name: DATABASE,
        meaning: 'storage of tasks; without it, a SQLite file',
        example: 'postgres://agent:agent@localhost:5432/agent',
      },
    ],
    service: {
      name: 'postgres',
      url: 'postgres://agent:agent@postgres:5432/agent',
      lines: [
        'image: postgres:17-alpine',
        'environment:',
        '  POSTGRES_USER: agent',
        '  POSTGRES_PASSWORD: agent',
        '  POSTGRES_DB: agent',
        'ports:',
        '  - 127.0.0.1:5432:5432',
        'volumes:',
        '  - data:/var/lib/postgresql/data',
        'healthcheck:',
        '  test: [CMD, pg_isready, -U, agent]',
        '  interval: 2s',
        '  retries: 30',
      ],
    },
  },
  redis: {
    summary: 'Tasks are in Redis or Valkey if `DATABASE_URL` names it, and otherwise in `data/parley.db`.',
    packages: ['parley-a2a-redis'],
    imports: { 'parley-a2a': ['openStorage'], 'parley-a2a-redis': ['redisBackend'] },
    opening: 'openStorage(config.databaseUrl, { backends: [redisBackend] })',
    variables: [
      { name: DATABASE, meaning: 'storage of tasks; without it, a SQLite file', example: 'redis://localhost:6379' },
    ],
    service: {
      name: 'valkey',
      url: 'redis://valkey:6379',
      lines: [
        'image: valkey/valkey:9-alpine',
        'command: valkey-server --appendonly yes',
        'ports:',
        '  - 127.0.0.1:6379:6379',
        'volumes:',
        '  - data:/data',
        'healthcheck:',
        '  test: [CMD, valkey-cli, ping]',
        '  interval: 2s',
        '  retries: 30',
      ],
    },
  },
  memory: { summary: 'Tasks are in memory, and end with the process.' },
};
