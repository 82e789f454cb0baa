import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../../test/counting-ids.js';
import { MemoryRequest } from '../../../test/exchange-request.js';
import { ManualClock } from '../../../test/manual-clock.js';
import { silentLogger } from '../../telemetry/logger.js';
import { type RequestWayOptions, requestWay, throughWay } from './request-way.js';

const start = { isStarted: true, start: async () => {}, logger: silentLogger };

function way(options: Partial<RequestWayOptions> = {}) {
  const ports = { logRequests: false, logger: silentLogger, clock: new ManualClock(), ids: new CountingIds() };
  return requestWay({ ...ports, ...options }, { metrics: undefined, start });
}

describe('the way of a request', () => {
  it('has one order', () => {
    expect(way().map(({ name }) => name)).toEqual([
      'knownHosts',
      'forwardedCaching',
      'streams',
      'observation',
      'audit',
      'nosniff',
      'hsts',
      'cors',
      'endpoint',
      'addressRate',
      'gate',
      'principalRate',
      'compression',
      'answered',
      'start',
    ]);
  });

  it('adds the headers of all middlewares, but of those that an endpoint goes without', async () => {
    const used = way({ nosniff: true, cors: '*', logRequests: true });
    const answer = async () => ({ status: 200, headers: { 'x-content-type-options': 'of its own' } });
    const all = await throughWay(used, answer)(new MemoryRequest({ method: 'GET' }));
    expect(all.headers).toMatchObject({
      'x-content-type-options': 'of its own',
      'access-control-allow-origin': '*',
      'x-request-id': expect.any(String),
    });
    const less = await throughWay(used, answer, { without: ['cors', 'observation'] })(
      new MemoryRequest({ method: 'GET' }),
    );
    expect(less.headers).toEqual({ 'x-content-type-options': 'of its own' });
  });

  it('answers a preflight request before the agents start', async () => {
    const used = requestWay(
      { logRequests: false, logger: silentLogger, clock: new ManualClock(), ids: new CountingIds(), cors: '*' },
      { metrics: undefined, start: { ...start, isStarted: false, start: () => Promise.reject(new Error('no')) } },
    );
    const exchange = throughWay(used, async () => ({ status: 200, headers: {} }));
    const asked = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
    expect((await exchange(new MemoryRequest({ method: 'OPTIONS', headers: asked }))).status).toBe(204);
    expect(await exchange(new MemoryRequest({ method: 'GET' }))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5', 'access-control-allow-origin': '*' },
    });
  });

  it('turns an error that nobody caught into 500', async () => {
    const exchange = throughWay(way(), () => Promise.reject(new Error('secret')));
    const answer = await exchange(new MemoryRequest({ method: 'GET' }));
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('secret');
  });
});
