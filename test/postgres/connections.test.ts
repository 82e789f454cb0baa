import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OptionsError } from '../../packages/parley/src/errors/options-error.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { PostgresConnections } from '../../packages/postgres/src/connections.js';
import { changesIn, migrate } from '../../packages/postgres/src/migrate.js';
import type { PostgresError } from '../../packages/postgres/src/postgres-error.js';
import { type PostgresOptions, postgresPlan } from '../../packages/postgres/src/postgres-options.js';
import { SCHEMA_CHANGES } from '../../packages/postgres/src/schema.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const logger = new CapturingLogger();
const opened: PostgresConnections[] = [];
afterAll(() => Promise.all(opened.map((connections) => connections.close())));

async function connect(options: Partial<PostgresOptions> = {}): Promise<PostgresConnections> {
  const plan = postgresPlan({ url: server.url, connectTimeoutMs: 1_000, statementTimeoutMs: 1_000, ...options });
  const connections = new PostgresConnections({ plan, clock: systemClock, logger });
  opened.push(connections);
  return connections;
}

/** Returns the error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<PostgresError> {
  return call.then(
    () => Promise.reject(new Error('The call succeeded')),
    (error: PostgresError) => error,
  );
}

async function until(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe('the connections', () => {
  it('return 64-bit integers as numbers', async () => {
    const connections = await connect();
    const rows = await connections.query({
      text: 'SELECT $1::bigint AS one, $2::bigint[] AS many',
      values: [7, [1, 2]],
    });
    expect(rows).toEqual([{ one: 7, many: [1, 2] }]);
  });

  it('distinguish a refused statement from a lost connection', async () => {
    const connections = await connect();
    expect(await failure(connections.query({ text: 'SELECT 1/0' }))).toMatchObject({
      name: 'StorageError',
      written: 'no',
      isOutage: false,
      sqlState: '22012',
    });
    const end = connections.query({ text: 'SELECT pg_terminate_backend(pg_backend_pid())' });
    expect(await failure(end)).toMatchObject({ written: 'unknown', isOutage: true });
    await until(() => connections.query({ text: 'SELECT 1' }));
  });

  it('cancel a statement that takes too long, and run the next one', async () => {
    const connections = await connect({ statementTimeoutMs: 200, poolSize: 1 });
    const slow = connections.query({ text: 'SELECT pg_sleep(60)' });
    expect(await failure(slow)).toMatchObject({ written: 'no', sqlState: '57014' });
    expect(await connections.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  });

  it('name the reason if all of them are in use', async () => {
    const connections = await connect({ poolSize: 1, statementTimeoutMs: 60_000 });
    const slow = failure(connections.query({ text: 'SELECT pg_sleep(60)' }));
    const { message, isOutage } = await failure(connections.query({ text: 'SELECT 1' }));
    expect(message).toMatch(/all connections are in use/);
    expect(isOutage).toBe(false);
    const other = await connect();
    await other.query({
      text: `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'`,
    });
    expect(await slow).toMatchObject({ written: 'no', sqlState: '57014' });
  });

  it('commit all or nothing of a transaction', async () => {
    const connections = await connect({ url: await server.newDatabase() });
    await connections.query({ text: 'CREATE TABLE t (n integer)' });
    const failing = connections.transaction(async (session) => {
      await session.query({ text: 'INSERT INTO t VALUES (1)' });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await connections.query({ text: 'SELECT n FROM t' })).toEqual([]);
    await connections.transaction((session) => session.query({ text: 'INSERT INTO t VALUES (2)' }));
    expect(await connections.query({ text: 'SELECT n FROM t' })).toEqual([{ n: 2 }]);
  });

  it('repeat a transaction after a conflict with another one', async () => {
    const connections = await connect({ url: await server.newDatabase() });
    await connections.query({ text: 'CREATE TABLE t (id integer PRIMARY KEY, n integer)' });
    await connections.query({ text: 'INSERT INTO t VALUES (1, 0), (2, 0)' });
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const add = (first: number, second: number) =>
      connections.transaction(async (session) => {
        const text = 'UPDATE t SET n = n + 1 WHERE id = $1';
        await session.query({ text, values: [first] });
        begun += 1;
        if (begun >= 2) both.resolve();
        await both.promise;
        await session.query({ text, values: [second] });
      });
    // By default, the server detects a deadlock after a second.
    await connections.query({ text: "ALTER SYSTEM SET deadlock_timeout = '20ms'" });
    await connections.query({ text: 'SELECT pg_reload_conf()' });
    await Promise.all([add(1, 2), add(2, 1)]);
    expect(begun).toBeGreaterThan(2);
    expect(await connections.query({ text: 'SELECT n FROM t ORDER BY id' })).toEqual([{ n: 2 }, { n: 2 }]);
  });
});

describe('an outage', () => {
  it('of a killed server: calls fail at once, and succeed after its restart', async () => {
    await using own = await PostgresServer.start();
    const connections = await connect({ url: own.url });
    await connections.query({ text: 'SELECT 1' });
    await own.kill();
    const { message, written } = await failure(untilRefused(connections));
    expect(message).toMatch(/no server listens there|closed the connection/);
    expect(written).toBe('no');
    await own.startAgain();
    await until(() => connections.query({ text: 'SELECT 1' }));
  });

  it('of a frozen server: the first calls take as long as a statement, the others fail at once', async () => {
    await using own = await PostgresServer.start();
    const connections = await connect({ url: own.url, statementTimeoutMs: 300, connectTimeoutMs: 300, poolSize: 2 });
    await connections.query({ text: 'SELECT 1' });
    own.freeze();
    expect(await failure(connections.query({ text: 'SELECT 1' }))).toMatchObject({ written: 'unknown' });
    const started = performance.now();
    for (let call = 0; call < 1_000; call += 1) {
      expect(await failure(connections.query({ text: 'SELECT 1' }))).toMatchObject({ written: 'no', told: true });
    }
    expect(performance.now() - started).toBeLessThan(5_000);
    own.thaw();
    await until(() => connections.query({ text: 'SELECT 1' }));
  });

  it('of a process frozen within a transaction: its locks are released', async () => {
    const url = await server.newDatabase();
    // The server ends the pause of one process long before the wait of the other one.
    const frozen = await connect({ url, statementTimeoutMs: 300 });
    const other = await connect({ url, statementTimeoutMs: 30_000 });
    await other.query({ text: 'CREATE TABLE t (n integer)' });
    await other.query({ text: 'INSERT INTO t VALUES (1)' });
    const locked = Promise.withResolvers<void>();
    const thaw = Promise.withResolvers<void>();
    const work = frozen.transaction(async (session) => {
      await session.query({ text: 'SELECT n FROM t FOR UPDATE' });
      locked.resolve();
      await thaw.promise;
      await session.query({ text: 'UPDATE t SET n = 2' });
    });
    await locked.promise;
    await other.query({ text: 'UPDATE t SET n = 3' });
    thaw.resolve();
    expect(await failure(work)).toMatchObject({ written: 'no' });
    expect(await other.query({ text: 'SELECT n FROM t' })).toEqual([{ n: 3 }]);
  });
});

describe('the schema', () => {
  it('is created once by processes that start together', async () => {
    const url = await server.newDatabase();
    const all = await Promise.all(Array.from({ length: 8 }, () => connect({ url, poolSize: 2 })));
    const results = await Promise.all(all.map((connections) => migrate(connections)));
    expect(results.map(({ from }) => from).sort()).toEqual([0, ...Array(7).fill(SCHEMA_CHANGES.length)]);
    expect(await changesIn(all[0] as PostgresConnections, 'parley')).toEqual(SCHEMA_CHANGES.map(({ name }) => name));
  });

  it('is migrated by a newer version, and then refused by an older one', async () => {
    const connections = await connect({ url: await server.newDatabase() });
    await migrate(connections);
    const added = { name: '9999', statements: ({ schema }: { schema: string }) => [`CREATE TABLE ${schema}.more ()`] };
    expect(await migrate(connections, [...SCHEMA_CHANGES, added])).toEqual({
      from: SCHEMA_CHANGES.length,
      to: SCHEMA_CHANGES.length + 1,
    });
    await expect(migrate(connections)).rejects.toThrow(/newer version has changed the schema "parley" \(9999\)/);
  });

  it('is rolled back if a change fails', async () => {
    const connections = await connect({ url: await server.newDatabase() });
    const broken = { name: '9999', statements: () => ['CREATE TABLE nowhere.more ()'] };
    await expect(migrate(connections, [...SCHEMA_CHANGES, broken])).rejects.toThrow(/nowhere/);
    expect(await changesIn(connections, 'parley')).toEqual([]);
    await migrate(connections);
  });

  it('is migrated again if this process pauses within the transaction', async () => {
    const connections = await connect({ url: await server.newDatabase() });
    let attempts = 0;
    const added = {
      name: '9999',
      statements: () => {
        attempts += 1;
        // The server ends a transaction after a pause of a second.
        if (attempts === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
        return [];
      },
    };
    const to = SCHEMA_CHANGES.length + 1;
    expect(await migrate(connections, [...SCHEMA_CHANGES, added])).toEqual({ from: 0, to });
    expect(attempts).toBe(2);
  });

  it('is not created beside tables of another program', async () => {
    const connections = await connect({ url: await server.newDatabase(), schema: 'public' });
    await connections.query({ text: 'CREATE TABLE task (n integer)' });
    await expect(migrate(connections)).rejects.toThrow(/has tables of another program \(task\): name another schema/);
  });
});

describe('the options', () => {
  const plan = (url: string, options: Partial<PostgresOptions> = {}) => postgresPlan({ url, ...options });

  it('override the parameters of the url', () => {
    const { connection, ...rest } = plan(
      'postgres://me:pass@db.example/a2a?durability=process&poolSize=3&schema=one&sslmode=require',
      { schema: 'two' },
    );
    expect(rest).toMatchObject({ durability: 'process', poolSize: 3, schema: 'two', subject: 'db.example:5432/a2a' });
    expect(connection.connectionString).toBe('postgres://me:pass@db.example/a2a?sslmode=verify-full');
  });

  it.each([
    ['postgres:nothing', /must be like postgres:/],
    ['postgres://me:s3cret@db/a?durabilty=process', /has a parameter that is not known \(did you mean durability\?\)/],
    ['postgres://me:s3cret@db/a?poolSize=many', /poolSize: must be a whole number/],
    ['postgres://me:s3cret@db/a?schema=a"b', /schema: must be a name/],
    ['postgres://me:s3cret@db/a?sslmode=yes', /sslmode: must be one of/],
  ])('%s is refused without its password', (url, reason) => {
    expect(() => plan(url)).toThrow(OptionsError);
    expect(() => plan(url)).toThrow(reason);
    expect(() => plan(url)).not.toThrow(/s3cret/);
  });

  it('an error names a missing database, and not the password', async () => {
    const connections = await connect({ url: server.urlOf('missing').replace('//postgres@', '//postgres:s3cret@') });
    const { message } = await failure(connections.query({ text: 'SELECT 1' }));
    expect(message).toMatch(/there is no such database: create it/);
    expect(JSON.stringify(logger)).not.toMatch(/s3cret/);
  });
});

/** Repeats a call until one fails before it is sent: a killed server may still answer a few. */
async function untilRefused(connections: PostgresConnections): Promise<void> {
  for (;;) {
    try {
      await connections.query({ text: 'SELECT 1' });
    } catch (error) {
      if ((error as PostgresError).written === 'no') throw error;
    }
  }
}
