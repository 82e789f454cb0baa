import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../packages/parley/src/exports/storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { openPostgresStorage } from '../../packages/postgres/src/index.js';
import { ALICE } from '../contract/storage/task-play.js';
import { BACKENDS } from '../support/backends.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { newMessage, statesOf, TwoServers } from './two-servers.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Runs a statement outside of any storage. */
async function admin(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** Repeats a call until it succeeds. */
async function until<R>(call: () => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await call();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

describe('a server in use', () => {
  it.each(['killed and started again', 'frozen and thawed'])(
    'can be %s: acknowledged writes are kept',
    async (fault) => {
      await using own = await PostgresServer.start();
      const options = { url: own.url, connectTimeoutMs: 500, statementTimeoutMs: 500, logger: silentLogger };
      await using servers = await TwoServers.start([
        await openPostgresStorage(options),
        await openPostgresStorage(options),
      ]);
      const [one, two] = servers.clients;
      if (one === undefined || two === undefined) throw new Error('Two servers have two clients');
      const before = await one.sendMessage({ message: newMessage('before') });
      const waiting = await one.sendMessage({
        message: newMessage('wait'),
        configuration: { returnImmediately: true },
      });
      if (!(before.task !== undefined && waiting.task !== undefined)) throw new Error('The agent answers with tasks');
      const stream = two.subscribeToTask(waiting.task.id);
      // A subscription that begins after the fault may find the task ended.
      await stream.next();
      const states = statesOf(stream);
      if (fault === 'frozen and thawed') own.freeze();
      else await own.kill();
      const refused = two.getTask({ id: before.task.id }, { retries: 0 } as object);
      await expect(refused).rejects.toThrow();
      if (fault === 'frozen and thawed') own.thaw();
      else await own.startAgain();
      expect(await until(() => two.getTask({ id: before.task.id }))).toMatchObject({ status: before.task.status });
      servers.open();
      expect((await states).at(-1)).toBe('TASK_STATE_COMPLETED');
      expect(await one.sendMessage({ message: newMessage('after') })).toMatchObject({
        task: { status: { state: 'TASK_STATE_COMPLETED' } },
      });
    },
  );

  it('with a read-only database names the fault, answers reads, and accepts writes once they are allowed again', async () => {
    const url = await server.newDatabase();
    const logger = new CapturingLogger();
    const storage = await openPostgresStorage({ url, logger });
    const database = new URL(url).pathname.slice(1);
    await admin(server.url, `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    await admin(server.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
    const failing = until(async () => {
      const error = await storage.check().then(
        () => undefined,
        (failure: Error) => failure,
      );
      if (!error?.message.includes('read-only')) throw new Error('not yet');
      return error;
    });
    expect((await failing).message).toMatch(/the database is read-only: connect to the primary server/);
    expect(await storage.now()).toBeGreaterThan(0);
    expect(logger.lines.map(({ message }) => message).join('\n')).toMatch(/the storage cannot write/);
    await admin(server.url, `ALTER DATABASE ${database} RESET default_transaction_read_only`);
    await admin(server.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
    await until(() => storage.check());
    await storage.close();
  });
});

describe('a failover', () => {
  it('connects to the new primary at the same address, even if the old one still answers reads', async () => {
    await using old = await PostgresServer.start();
    await using fresh = await PostgresServer.start();
    // The new primary gets the tables. A real one would have the tasks too.
    await (await openPostgresStorage({ url: fresh.url, logger: silentLogger })).close();
    let target = old.port;
    const address = createServer((socket) => {
      const onward = connect(target, '127.0.0.1');
      socket.on('error', () => onward.destroy()).pipe(onward);
      onward.on('error', () => socket.destroy()).pipe(socket);
    });
    address.listen(0, '127.0.0.1');
    await once(address, 'listening');
    const { port } = address.address() as AddressInfo;
    const logger = new CapturingLogger();
    const storage = await openPostgresStorage({ url: old.url.replace(`:${old.port}/`, `:${port}/`), logger });
    const create = (id: string) =>
      storage.create(ALICE, { id, contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } });
    const reads = () => Promise.all(Array.from({ length: 30 }, () => storage.task(ALICE, 'after')));
    await create('before');
    await reads();

    target = fresh.port;
    await admin(old.url, 'ALTER SYSTEM SET default_transaction_read_only = on');
    await admin(old.url, 'SELECT pg_reload_conf()');
    expect(await until(() => create('after'))).toBe(true);
    // No connection leads to the old primary any more.
    expect((await reads()).map((stored) => stored?.task.id)).toEqual(Array.from({ length: 30 }, () => 'after'));
    const loggedText = () => logger.lines.map(({ message }) => message).join('\n');
    await expect.poll(loggedText, { timeout: 30_000 }).toMatch(/wake-ups .* arrive again/);
    await storage.close();
    address.close();
  }, 60_000);
});

describe('at the start', () => {
  it('a server with fsync=off is refused, unless the url lowers the durability', async () => {
    await using own = await PostgresServer.start('fsync=off');
    await expect(openStorage(own.url, { logger: silentLogger, backends: BACKENDS })).rejects.toThrow(
      /fsync is off, so that tasks do not survive a loss of power: set it on, or add \?durability=process/,
    );
    const logger = new CapturingLogger();
    const storage = await openStorage(`${own.url}?durability=process`, { logger, backends: BACKENDS });
    expect(storage.durability).toBe('process');
    expect(logger.lines[0]?.message).toBe(
      'tasks survive the end of the process, but not a crash of the database server',
    );
    await storage.close();
  });

  it('commits wait for the disk even if the database turns that off', async () => {
    const url = await server.newDatabase();
    await admin(server.url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    const storage = await openStorage(url, { logger: silentLogger, backends: BACKENDS });
    expect(storage.durability).toBe('power-loss');
    await storage.close();
    // Through a pooler, the storage cannot change the setting.
    await expect(
      openStorage(`${url}?pooled=transaction`, { logger: silentLogger, backends: BACKENDS }),
    ).rejects.toThrow(/synchronous_commit is off for this user/);
  });

  it('an unreachable server is an error with its reason and without the password', async () => {
    const away = 'postgres://me:s3cret@127.0.0.1:1/a2a';
    const expected = { name: 'StorageError', message: 'PostgreSQL at 127.0.0.1:1/a2a: no server listens there' };
    await expect(openStorage(away, { logger: silentLogger, backends: BACKENDS })).rejects.toMatchObject(expected);
  });
});

describe('TLS', () => {
  it('verifies the certificate of the server, unless the url turns that off', async () => {
    await using own = await PostgresServer.start();
    const ca = await own.offerTls();
    const open = async (url: string, tls?: { readonly ca: string }) => {
      const storage = await openPostgresStorage({ url, logger: silentLogger, ...(tls && { tls }) });
      await storage.close();
    };
    const { url } = own;
    await until(() => open(`${url}?sslmode=no-verify`));
    await expect(open(`${url}?sslmode=require`)).rejects.toThrow(/certificate/);
    await open(`${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`);
    await open(url, { ca: await readFile(ca, 'utf8') });
    const elsewhere = url.replace('127.0.0.1', 'localhost');
    await expect(open(`${elsewhere}?sslmode=require&sslrootcert=${encodeURIComponent(ca)}`)).rejects.toThrow(
      /localhost/,
    );
  });

  it('is named in the error if the server does not offer it', async () => {
    await expect(
      openStorage(`${server.url}?sslmode=require`, { logger: silentLogger, backends: BACKENDS }),
    ).rejects.toThrow(/it offers no TLS: remove sslmode/);
  });
});
