import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openPostgresStorage } from '../../packages/postgres/src/index.js';
import { acceptingContract } from '../contract/storage/accepting.js';
import { claimingContract } from '../contract/storage/claiming.js';
import { deliveriesContract } from '../contract/storage/deliveries.js';
import { PgbouncerServer } from '../support/servers/pgbouncer-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';
import { newMessage, statesOf, TwoServers } from './two-servers.js';

let server: PostgresServer;
let pooler: PgbouncerServer;
let url: string;
const pooledUrl = async () => pooler.urlOf(new URL(await server.newDatabase()).pathname.slice(1));
beforeAll(async () => {
  server = await PostgresServer.start();
  pooler = await PgbouncerServer.start(server.port);
  url = await pooledUrl();
});
afterAll(async () => {
  await pooler[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('behind a transaction pooler', () => {
  for (const contract of [acceptingContract, claimingContract, deliveriesContract]) {
    contract((clock, options) => clockedStorage(url, clock, options));
  }

  it('processes that start together create the tables once', async () => {
    const fresh = await pooledUrl();
    const opening = Array.from({ length: 6 }, () => openPostgresStorage({ url: fresh, logger: silentLogger }));
    const storages = await Promise.all(opening);
    for (const storage of storages) await storage.check();
    await Promise.all(storages.map((storage) => storage.close()));
  });

  it('a task is followed and canceled through another server', async () => {
    const fresh = await pooledUrl();
    const open = () => openPostgresStorage({ url: fresh, logger: silentLogger });
    await using servers = await TwoServers.start([await open(), await open()]);
    const [one, two] = servers.clients;
    if (one === undefined || two === undefined) throw new Error('Two servers have two clients');
    expect(await one.sendMessage({ message: newMessage('x') })).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
    const sent = await one.sendMessage({ message: newMessage('wait'), configuration: { returnImmediately: true } });
    if (sent.task === undefined) throw new Error('The agent answers with a task');
    const stream = two.subscribeToTask(sent.task.id);
    // A subscription that begins after the cancel finds the task ended.
    await stream.next();
    const states = statesOf(stream);
    await two.cancelTask({ id: sent.task.id });
    expect((await states).at(-1)).toBe('TASK_STATE_CANCELED');
  });
});

const IGNORED = 'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options';

describe('a pooler without the option for it', () => {
  /** Opens a storage through a pooler with these settings. Returns its error and its log. */
  async function openThrough(more: readonly string[], options: (url: string) => object = () => ({})) {
    await using strict = await PgbouncerServer.start(server.port, more);
    const logged: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const note = (text: string) => {
      logged.push(text);
      resolve();
    };
    const logger = { ...silentLogger, warn: note, error: note };
    const plain = strict.urlOf(new URL(await server.newDatabase()).pathname.slice(1), '');
    try {
      const storage = await openPostgresStorage({ url: plain, logger, ...options(plain) });
      await promise;
      await storage.close();
    } catch (error) {
      return { error: String(error), logged };
    }
    return { error: undefined, logged };
  }

  it.each([
    ['refuses settings', []],
    ['refuses settings, with sessions', ['pool_mode = session']],
    ['drops settings', [IGNORED]],
    ['drops settings, with sessions', [IGNORED, 'pool_mode = session']],
  ])('that %s: the error names the option to set', async (_what, more) => {
    const { error } = await openThrough(more);
    expect(error).toMatch(/^StorageError: PostgreSQL at \S+: a pooler .*: add pooled=transaction to the url/);
  });

  it.each([
    ['refuses settings', []],
    ['drops settings', [IGNORED]],
  ])('that %s of the listening connection: a warning names the option', async (_what, more) => {
    const { error, logged } = await openThrough(more, (url) => ({ listenUrl: url, pooled: 'transaction' }));
    expect(error).toBeUndefined();
    expect(logged[0]).toMatch(/^wake-ups of other processes do not arrive.*a pooler .*listenUrl/);
  });

  it('that has too few connections: the error names the options to change', async () => {
    const settings = ['max_client_conn = 2', 'default_pool_size = 1', 'query_wait_timeout = 1'];
    await using small = await PgbouncerServer.start(server.port, settings);
    const fresh = small.urlOf(new URL(await server.newDatabase()).pathname.slice(1), '');
    const [holder, waiter] = [new pg.Client(fresh), new pg.Client(fresh)];
    const open = () => openPostgresStorage({ url: fresh, pooled: 'transaction', logger: silentLogger });
    await holder.connect();
    await holder.query('BEGIN');
    await expect(open()).rejects.toThrow('lower poolSize, or raise its default_pool_size');
    await waiter.connect();
    await expect(open()).rejects.toThrow('lower poolSize, or raise its max_client_conn');
    await Promise.all([holder.end(), waiter.end()]);
  });
});
