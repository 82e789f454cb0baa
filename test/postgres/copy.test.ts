import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { copyStorage } from '../../packages/parley/src/exports/storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';
import { testCopy } from '../copy/live-log.js';
import { BACKENDS } from '../support/backends.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

const files = new SqliteFiles();
let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  files.remove();
  await server[Symbol.asyncDispose]();
});

const sqlite = async () => {
  const path = files.fresh();
  return { url: `sqlite:${path}`, open: () => files.open(systemClock, { path }) };
};
const postgres = async () => {
  const url = await server.newDatabase();
  return {
    url,
    open: () => PostgresStorage.open({ url, clock: systemClock, logger: silentLogger }),
    forgetServers: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('DELETE FROM parley.node');
      await client.end();
    },
  };
};

describe('a copy from SQLite to PostgreSQL', () => {
  testCopy({ source: sqlite, target: postgres });
});

describe('a copy from PostgreSQL', () => {
  it('is refused while a server uses the database', async () => {
    const source = await postgres();
    const storage = await source.open();
    await storage.heartbeat({ node: 'a server', agents: ['/'], runningTurns: 0 });
    const other = await sqlite();
    await expect(copyStorage({ from: source.url, to: other.url, backends: BACKENDS })).rejects.toThrow(
      /A server has used .* stop it/,
    );
    await (await other.open()).close();
    await expect(copyStorage({ from: other.url, to: source.url, backends: BACKENDS })).rejects.toThrow(
      /A server has used .* stop it/,
    );
    await storage.close();
  });

  it('writes all tasks back to SQLite', async () => {
    const [first, between, last] = [await sqlite(), await postgres(), await sqlite()];
    const storage = await first.open();
    const scope = { agent: '/', tenant: 'tenant', owner: 'ada\u0000' };
    const long = 'i'.repeat(2_000);
    for (const id of ['one', long]) {
      await storage.create(scope, { id, contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    }
    await storage.keys.remember(
      scope,
      { key: 'key', digest: 'd', ttlMs: 600_000 },
      {
        messageId: 'reply',
        role: 'ROLE_AGENT',
        parts: [{ text: 'hi' }],
      },
    );
    const before = await storage.tasks({ scope, orderBy: 'created', limit: 10, artifacts: true, history: true });
    await storage.close();
    await copyStorage({ from: first.url, to: between.url, backends: BACKENDS });
    expect(await copyStorage({ from: between.url, to: last.url, backends: BACKENDS })).toMatchObject({
      tasks: 2,
      keys: 1,
    });
    const back = await last.open();
    const after = await back.tasks({ scope, orderBy: 'created', limit: 10, artifacts: true, history: true });
    expect(after.tasks).toEqual(before.tasks);
    expect(await back.keys.recall(scope, 'key')).toMatchObject({ digest: 'd' });
    await back.close();
  });
});
