import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../packages/parley/src/exports/postgres.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { acceptingContract } from '../contract/storage/accepting.js';
import { claimingContract } from '../contract/storage/claiming.js';
import { deliveriesContract } from '../contract/storage/deliveries.js';
import { PgbouncerServer } from '../support/servers/pgbouncer-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';
import { said, statesOf, TwoServers } from './two-servers.js';

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

  it('processes that start together make the tables once', async () => {
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
    expect(await one.sendMessage({ message: said('x') })).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
    const sent = await one.sendMessage({ message: said('wait'), configuration: { returnImmediately: true } });
    if (!('task' in sent)) throw new Error('The agent answers with a task');
    const states = statesOf(two.subscribeToTask(sent.task.id));
    await two.cancelTask({ id: sent.task.id });
    expect((await states).at(-1)).toBe('TASK_STATE_CANCELED');
  });
});
