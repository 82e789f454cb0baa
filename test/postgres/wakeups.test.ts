import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { TaskKey } from '../../packages/parley/src/store/task-key.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { PostgresConnections } from '../../packages/postgres/src/connections.js';
import { migrate } from '../../packages/postgres/src/migrate.js';
import { type PostgresOptions, postgresPlan } from '../../packages/postgres/src/postgres-options.js';
import { PostgresWakeups } from '../../packages/postgres/src/postgres-wakeups.js';
import { payloadsOf, readPayload, wakeupText } from '../../packages/postgres/src/wakeup-payloads.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await PostgresServer.start();
});
beforeEach(async () => {
  url = await server.newDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

const key = (id: string): TaskKey => ({ scope: { agent: 'a', tenant: '', owner: null }, id });

/** The wake-ups of one process. */
class Process implements AsyncDisposable {
  readonly seen: string[] = [];
  readonly logger: CapturingLogger;
  readonly #waiting = new Map<string, () => void>();
  readonly connections: PostgresConnections;
  readonly wakeups: PostgresWakeups;

  private constructor(connections: PostgresConnections, wakeups: PostgresWakeups, logger: CapturingLogger) {
    this.connections = connections;
    this.wakeups = wakeups;
    this.logger = logger;
    const see = (text: string) => {
      this.seen.push(text);
      this.#waiting.get(text)?.();
    };
    wakeups.subscribe({
      taskChanged: ({ scope, id }) => see(`changed ${scope.owner} ${id}`),
      cancelAsked: ({ id }) => see(`cancel ${id}`),
      workReady: (agent) => see(`work ${agent}`),
      deliveryReady: (agent) => see(`delivery ${agent}`),
    });
  }

  static async start(options: Partial<PostgresOptions> = {}): Promise<Process> {
    const logger = new CapturingLogger();
    const plan = postgresPlan({ url, ...options });
    const connections = new PostgresConnections({ plan, clock: systemClock, logger });
    await migrate(connections);
    const wakeups = new PostgresWakeups({ connections, clock: systemClock, logger });
    await wakeups.start();
    return new Process(connections, wakeups, logger);
  }

  /** Resolves when it has received a wake-up. */
  async sees(text: string): Promise<void> {
    if (!this.seen.includes(text)) await new Promise<void>((resolve) => this.#waiting.set(text, resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.wakeups.close();
    await this.connections.close();
  }
}

describe.each([
  ['a connection that listens', {}],
  ['a table, behind a transaction pooler', { pooled: 'transaction' as const }],
])('wake-ups by %s', (_, options) => {
  it('reach listeners of the same process at once, and all other processes once', async () => {
    await using one = await Process.start(options);
    await using two = await Process.start(options);
    one.wakeups.taskChanged(key('t1'));
    one.wakeups.taskChanged(key('t1'));
    one.wakeups.cancelAsked(key('t\0\ud800'));
    one.wakeups.workReady('a');
    one.wakeups.deliveryReady('b');
    const own = ['changed null t1', 'changed null t1', 'cancel t\0\ud800', 'work a', 'delivery b'];
    expect(one.seen).toEqual(own);
    await two.sees('delivery b');
    expect(two.seen).toEqual([...new Set(own)]);
    two.wakeups.taskChanged(key('back'));
    await one.sees('changed null back');
    expect(one.seen).toEqual([...own, 'changed null back']);
  });

  it('of a closing process arrive', async () => {
    await using two = await Process.start(options);
    const one = await Process.start(options);
    one.wakeups.taskChanged(key('first'));
    one.wakeups.workReady('last');
    await one[Symbol.asyncDispose]();
    await two.sees('work last');
  });

  it('arrive in any number', async () => {
    await using one = await Process.start(options);
    await using two = await Process.start(options);
    const ids = Array.from({ length: 2_000 }, (_, at) => `task ${at} ${'x'.repeat(40)}`);
    for (const id of ids) one.wakeups.taskChanged(key(id));
    await Promise.all(ids.map((id) => two.sees(`changed null ${id}`)));
  });
});

describe('a listening connection', () => {
  it('is replaced after the server has closed it', async () => {
    await using one = await Process.start();
    await using two = await Process.start();
    await two.connections.query({
      text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`,
    });
    const texts = () => one.logger.lines.map((line) => line.message);
    while (!texts().some((text) => /arrive again/.test(text))) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(texts()[0]).toMatch(/do not arrive: this process polls the tables instead/);
    two.wakeups.workReady('a');
    await one.sees('work a');
  });

  it('ignores invalid payloads of other programs on its channel', async () => {
    await using one = await Process.start();
    const stranger = new pg.Client({ connectionString: url });
    await stranger.connect();
    const odd = ['', '{', '[]', '[1]', '["x",["changed"]]', '["x",["changed","a","",1,"t"],["work",1],[],null,7]'];
    for (const payload of [...odd, '["x",["work","last"]]']) {
      await stranger.query('SELECT pg_notify($1, $2)', ['parley_parley', payload]);
    }
    await stranger.end();
    await one.sees('work last');
    expect(one.seen).toEqual(['work last']);
  });

  it('delays no caller while the server is frozen', async () => {
    await using own = await PostgresServer.start();
    url = own.url;
    const waits = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000 };
    await using one = await Process.start(waits);
    await using two = await Process.start(waits);
    own.freeze();
    for (let at = 0; at < 30_000; at += 1) one.wakeups.taskChanged(key(`t${at}`));
    expect(one.seen).toHaveLength(30_000);
    own.thaw();
    for (;;) {
      two.wakeups.workReady('again');
      const isSeen = one.sees('work again').then(() => true);
      if (await Promise.race([isSeen, new Promise((resolve) => setTimeout(resolve, 100))])) break;
    }
  });
});

describe('payloads', () => {
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => wakeupText({ kind: 'changed', key: key(`${at}${'é'.repeat(length)}`) }));

  it('are within the limit of the server, and together contain all wake-ups', () => {
    const payloads = payloadsOf('sender', texts(500, 100));
    expect(payloads.length).toBeGreaterThan(10);
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
    expect(payloads.flatMap((payload) => readPayload(payload).wakeups)).toHaveLength(500);
    expect(readPayload(payloads[0] as string).sender).toBe('sender');
  });

  it('omit a wake-up that is longer than a payload', () => {
    expect(payloadsOf('sender', texts(1, 5_000))).toEqual([]);
    expect(payloadsOf('sender', [])).toEqual([]);
  });
});
