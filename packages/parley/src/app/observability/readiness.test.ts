import { describe, expect, it } from 'vitest';
import { jsonOf, MemoryRequest } from '../../../test/exchange-request.js';
import { ManualClock } from '../../../test/manual-clock.js';
import { StorageError } from '../../errors/storage-error.js';
import { MemoryStorage } from '../../store/memory/memory-storage.js';
import type { TaskStorage } from '../../store/task-storage.js';
import type { LogFields } from '../../telemetry/logger.js';
import { healthEndpoints } from './health-endpoints.js';
import { Readiness, type ReadinessCheck } from './readiness.js';

/** A storage that fails or hangs as told. */
function world({
  checks = [],
  durability,
}: {
  checks?: readonly ReadinessCheck[];
  durability?: TaskStorage['durability'];
} = {}) {
  const clock = new ManualClock();
  const memory = new MemoryStorage({ clock });
  const said: string[] = [];
  const say = (level: string) => (message: string, fields?: LogFields) =>
    void said.push(`${level} ${message} ${String(fields?.check)}`);
  const logger = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  const state = {
    storage: 'works' as 'works' | 'fails' | 'hangs',
    looked: 0,
    isDraining: false,
    started: async () => {},
  };
  const storage = new Proxy(memory as TaskStorage, {
    get(target, name) {
      if (name === 'durability') return durability ?? 'power-loss';
      if (name !== 'check') return Reflect.get(target, name);
      return async () => {
        state.looked++;
        if (state.storage === 'fails') throw new StorageError('secret text of the disk', { reason: 'its disk fails' });
        if (state.storage === 'hangs') await new Promise(() => {});
        return { waiting: 0 };
      };
    },
  });
  const ports = { storage, clock, logger, started: () => state.started(), isDraining: () => state.isDraining };
  const endpoints = healthEndpoints(new Readiness({ ...ports, checks }));
  const ask = async (path: string, method = 'GET') => {
    const answer = await endpoints.find((one) => one.path === path)?.exchange(new MemoryRequest({ method, url: path }));
    if (answer === undefined) throw new Error(`nothing at ${path}`);
    return { status: answer.status, headers: answer.headers, body: answer.body ? await jsonOf(answer) : undefined };
  };
  return { clock, said, state, ask };
}

describe('/readyz', () => {
  it('says 200 while storage and agents work', async () => {
    const { ask } = world();
    const { status, headers, body } = await ask('/readyz');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(body).toEqual({
      status: 'ready',
      notReady: [],
      checks: { agents: { status: 'ok', required: true }, storage: { status: 'ok', required: true } },
      durability: 'power-loss',
      warnings: [],
    });
  });

  it('says 503, what fails and the reason for readers; the log hears all, once, and when it is over', async () => {
    const { ask, state, clock, said } = world();
    state.storage = 'fails';
    for (let probe = 0; probe < 3; probe++) {
      const { status, body } = await ask('/readyz');
      expect(status).toBe(503);
      expect(body).toMatchObject({
        status: 'not ready',
        notReady: ['storage'],
        checks: { storage: { status: 'failing', reason: 'its disk fails' } },
      });
      expect(JSON.stringify(body)).not.toContain('secret');
      await clock.advance(1_000);
    }
    expect(said).toEqual(['warn a readiness check fails storage']);
    state.storage = 'works';
    expect((await ask('/readyz')).status).toBe(200);
    expect(said.slice(1)).toEqual(['info a readiness check is right again storage']);
  });

  it('does not wait for a storage that hangs', async () => {
    const { ask, state, clock } = world();
    state.storage = 'hangs';
    const answer = ask('/readyz');
    await clock.advance(2_000);
    expect(await answer).toMatchObject({ status: 503, body: { notReady: ['storage'] } });
    expect(clock.pendingTimers).toBe(0);
  });

  it('looks once a second, however many ask', async () => {
    const { ask, state, clock } = world();
    await Promise.all(Array.from({ length: 20 }, () => ask('/readyz')));
    await clock.advance(999);
    await ask('/readyz');
    expect(state.looked).toBe(1);
    await clock.advance(1);
    await ask('/readyz');
    expect(state.looked).toBe(2);
  });

  it('says 503 while the agents cannot start, and while draining', async () => {
    const { ask, state, clock } = world();
    state.started = () => Promise.reject(new Error('not yet'));
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: { notReady: ['agents'] } });
    state.started = async () => {};
    await clock.advance(1_000);
    expect((await ask('/readyz')).status).toBe(200);
    state.isDraining = true;
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: { status: 'draining', notReady: ['server'] } });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('shows what is not required, and is ready without it', async () => {
    const check = () => Promise.reject(new Error('connection refused'));
    const { ask } = world({ checks: [{ name: 'cache', required: false, check }] });
    expect(await ask('/readyz')).toMatchObject({
      status: 200,
      body: { notReady: [], checks: { cache: { status: 'failing', required: false } } },
    });
  });

  it.each(['process', 'none'] as const)('warns of the durability "%s", and is ready', async (durability) => {
    const { status, body } = await world({ durability }).ask('/readyz');
    expect(status).toBe(200);
    expect(body).toMatchObject({ durability, warnings: [expect.stringMatching(/^Tasks /)] });
  });
});

describe('probes', () => {
  it.each(['/healthz', '/readyz'])('%s can only be read', async (path) => {
    const { ask } = world();
    expect((await ask(path, 'HEAD')).status).toBe(200);
    expect(await ask(path, 'OPTIONS')).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } });
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, headers } = await ask(path, method);
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});
