import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { PostgresStorage } from '../../packages/parley/src/store/postgres/postgres-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { secretSearchContract } from '../contract/secret-search-contract.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start('fsync=off');
});
afterAll(() => server[Symbol.asyncDispose]());

secretSearchContract('PostgreSQL', async () => {
  const url = await server.newDatabase();
  return {
    open: () => PostgresStorage.open({ url, durability: 'process', clock: systemClock, logger: silentLogger }),
    contents: () => rowsOf(url),
  };
});

/** The rows of all tables, as text. */
async function rowsOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ text: string }>(`select row_to_json(t)::text as text from ${name} as t`);
      texts.push(name, ...rows.map(({ text }) => text.replaceAll(/\\\\x((?:[\da-f]{2})+)/g, bytesOf)));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

function bytesOf(_: string, hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1');
}
