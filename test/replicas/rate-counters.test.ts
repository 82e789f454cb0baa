import { afterAll, describe, expect, it } from 'vitest';
import { DayTokens } from '../../packages/parley/src/app/limits/day-tokens.js';
import { systemClock as clock, systemIds as ids } from '../../packages/parley/src/exports/runtime.js';
import type { RateCounters } from '../../packages/parley/src/store/rate-counters.js';
import { silentLogger as logger } from '../../packages/parley/src/telemetry/logger.js';
import { MemoryRateCounters } from '../../packages/parley/test/memory-rate-counters.js';
import { PostgresConnections } from '../../packages/postgres/src/connections.js';
import { migrate } from '../../packages/postgres/src/migrate.js';
import { postgresPlan } from '../../packages/postgres/src/postgres-options.js';
import { PostgresRateCounters } from '../../packages/postgres/src/postgres-rate-counters.js';
import { RedisConnection } from '../../packages/redis/src/storage/redis-connection.js';
import { redisSettings } from '../../packages/redis/src/storage/redis-options.js';
import { RedisRateCounters } from '../../packages/redis/src/storage/redis-rate-counters.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisServer } from '../support/servers/redis-server.js';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const BACKENDS: Readonly<Record<string, () => Promise<RateCounters>>> = {
  'in PostgreSQL': async () => {
    const server = await PostgresServer.start();
    closing.push(() => server[Symbol.asyncDispose]());
    const plan = postgresPlan({ url: server.url });
    const connections = new PostgresConnections({ plan, clock, logger });
    closing.push(() => connections.close());
    await migrate(connections);
    return new PostgresRateCounters(connections, connections.schema);
  },
  'in Redis': async () => {
    const server = await RedisServer.start();
    closing.push(() => server[Symbol.asyncDispose]());
    const connection = await RedisConnection.open(redisSettings({ url: server.url, clock, ids, logger }));
    closing.push(() => connection.close());
    return new RedisRateCounters(connection);
  },
};

describe.each(Object.keys(BACKENDS))('counters of rates %s', (backend) => {
  let opened: Promise<RateCounters> | undefined;
  const open = () => {
    opened ??= BACKENDS[backend]?.() ?? Promise.reject(new Error(backend));
    return opened;
  };
  const ask = (key: string, over: object = {}) => ({ key, requests: 100, windowMs: 60_000, wanted: 1, ...over });

  it('grant the blocks of the rule, until the window has no more', async () => {
    const [counters, rule] = [await open(), new MemoryRateCounters(clock)];
    for (const wanted of [1, 1, 1, 7, 30, 1, 2, 0, 9, 100, 1, 0]) {
      const asked = [ask('ada', { wanted })];
      const [grant] = await counters.take(asked);
      const [right] = await rule.take(asked);
      expect([grant?.granted, grant?.left]).toEqual([right?.granted, right?.left]);
      expect(grant?.endsInMs).toBeGreaterThan(50_000);
      expect(grant?.endsInMs).toBeLessThanOrEqual(60_000);
    }
  });

  it('count the tokens of a day, of two processes, up to the limit', async () => {
    const counters = await open();
    const [one, other] = [0, 1].map(() => new DayTokens({ limit: 1_600, counters, clock, logger }));
    expect(await one?.spend('ann', 1_000)).toBe(600);
    expect(await other?.rest('ann')).toBe(600);
    expect(await other?.spend('ann', 650)).toBe(-50);
    expect([await one?.rest('ann'), await other?.rest('ann'), await one?.rest('bob')]).toEqual([0, 0, 1_600]);
  });

  it('count each key alone, also in one call', async () => {
    const counters = await open();
    const keys = Array.from({ length: 20 }, (_, at) => `caller ${at}`);
    const first = await counters.take(keys.map((key, at) => ask(key, { wanted: at + 1 })));
    expect(first.map(({ left }) => left)).toEqual(keys.map((_, at) => 100 - Math.max(6, at + 1)));
    const again = await counters.take(keys.toReversed().map((key) => ask(key, { wanted: 100 })));
    expect(again.map(({ left }) => left)).toEqual(keys.map(() => 0));
  });

  it('grant no request twice to processes that ask at once', async () => {
    const counters = await open();
    const asked = ['bob', 'eve', 'joe'].map((key) => ask(key, { requests: 500, wanted: 3 }));
    const sums = [0, 0, 0];
    const calls = Array.from({ length: 100 }, async (_, at) => {
      const order = at % 2 === 0 ? asked : asked.toReversed();
      for (const [place, { granted }] of (await counters.take(order)).entries()) {
        const who = at % 2 === 0 ? place : 2 - place;
        sums[who] = (sums[who] ?? 0) + granted;
      }
    });
    await Promise.all(calls);
    expect(sums).toEqual([500, 500, 500]);
  });

  it('begin a new window after the end of the last', async () => {
    const counters = await open();
    const asked = [ask('short', { requests: 3, windowMs: 150, wanted: 3 })];
    expect(await counters.take(asked)).toMatchObject([{ granted: 3, left: 0 }]);
    for (;;) {
      const [grant] = await counters.take(asked);
      if (grant?.granted === 3) break;
      expect(grant).toMatchObject({ granted: 0, left: 0 });
      expect(grant?.endsInMs).toBeLessThanOrEqual(150);
      await new Promise((resolve) => setTimeout(resolve, (grant?.endsInMs ?? 0) + 1));
    }
  });

  it('delete windows that have ended', async () => {
    const counters = await open();
    for (let call = 0; call < 1_000; call++) await counters.take([ask(`gone ${call}`, { windowMs: 1 })]);
    expect(await counters.take([ask('gone 0', { windowMs: 1 })])).toMatchObject([{ granted: 6 }]);
  });
});
