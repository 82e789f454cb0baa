import { describe, expect, it } from 'vitest';
import { MemoryRequest } from '../../../test/exchange-request.js';
import { ManualClock } from '../../../test/manual-clock.js';
import { beginRecord } from '../../bindings/http/call-record.js';
import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { LogFields } from '../../telemetry/logger.js';
import { silentLogger } from '../../telemetry/logger.js';
import { MetricRegistry } from '../../telemetry/metric-registry.js';
import { RequestMetrics } from '../../telemetry/request-metrics.js';
import { observeExchange } from './observed-exchange.js';

const MADE = 'made-here';

function world(answer: Partial<ExchangeResponse> = {}) {
  const clock = new ManualClock();
  const lines: [string, LogFields | undefined][] = [];
  const registry = new MetricRegistry();
  const metrics = new RequestMetrics([registry]);
  let seen: ExchangeRequest | undefined;
  const exchange = observeExchange(
    async (request) => {
      seen = request;
      await clock.advance(12);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'x', ...answer };
    },
    {
      metrics,
      logger: { ...silentLogger, info: (message, fields) => void lines.push([message, fields]) },
      clock,
      headers: {},
      ids: { random: () => MADE, ordered: () => 'none' },
    },
  );
  const send = (headers: Record<string, string> = {}, url = '/a/path?token=secret') =>
    exchange(new MemoryRequest({ headers, url }));
  return { send, lines, registry, metrics, seen: () => seen };
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the id of a request', () => {
  it.each<[string, Record<string, string>, string]>([
    ['that of X-Request-Id', { 'x-request-id': 'abc/1:2=3' }, 'abc/1:2=3'],
    ['else that of the trace', { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }, TRACE],
    ['X-Request-Id first', { 'x-request-id': 'abc', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }, 'abc'],
    ['else one made here', {}, MADE],
    ['nothing that breaks lines', { 'x-request-id': 'a\r\nset-cookie: b' }, MADE],
    ['nothing that is two', { 'x-request-id': 'a, b' }, MADE],
    ['nothing long', { 'x-request-id': 'a'.repeat(129) }, MADE],
    ['no broken trace', { traceparent: '00-xyz-1-01' }, MADE],
  ])('is %s', async (_, headers, id) => {
    const { send, lines, seen } = world();
    const answer = await send(headers);
    expect(answer.headers).toEqual({ 'content-type': 'text/plain', 'x-request-id': id });
    expect(seen()?.requestId).toBe(id);
    expect(lines[0]?.[1]?.requestId).toBe(id);
  });
});

describe('the line of a request', () => {
  it('says what it was, never its query', async () => {
    const call = beginRecord('JSONRPC');
    Object.assign(call, { operation: 'getTask', version: '1.0', code: 'TASK_NOT_FOUND', taskId: 't1' });
    const { send, lines } = world({ call });
    await send();
    expect(lines).toEqual([
      [
        'request',
        {
          requestId: MADE,
          method: 'POST',
          path: '/a/path',
          status: 200,
          ms: 12,
          operation: 'getTask',
          binding: 'JSONRPC',
          version: '1.0',
          code: 'TASK_NOT_FOUND',
          taskId: 't1',
        },
      ],
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('is short for what is no call, and for a path without end', async () => {
    const { send, lines } = world({ status: 404 });
    await send({}, `/${'x'.repeat(10_000)}`);
    expect(lines[0]?.[1]).toMatchObject({ status: 404, path: `/${'x'.repeat(199)}…` });
    expect(lines[0]?.[1]).not.toHaveProperty('operation');
  });
});

describe('the figures of requests', () => {
  it('tell operation, binding, version and code apart', async () => {
    const call = beginRecord('HTTP+JSON');
    Object.assign(call, { operation: 'sendMessage', version: '1.0' });
    const { send, registry, metrics } = world({ call });
    await send();
    call.code = 'UNAVAILABLE';
    await send();
    const series = { operation: 'sendMessage', binding: 'HTTP+JSON' };
    expect(await registry.collect()).toMatchObject([
      {
        name: 'a2a.server.requests',
        points: [
          { attributes: { ...series, version: '1.0', code: 'OK' }, value: 1 },
          { attributes: { ...series, version: '1.0', code: 'UNAVAILABLE' }, value: 1 },
        ],
      },
      { name: 'a2a.server.errors', points: [] },
      { name: 'a2a.server.limits.reached', points: [] },
      { name: 'a2a.server.operation.duration', unit: 's', points: [{ attributes: series, count: 2, sum: 0.024 }] },
    ]);
    expect(metrics).toMatchObject({ requests: 2, errors: 1 });
  });

  it('count what is no call by its status, and errors from 500 on', async () => {
    const { send, registry, metrics } = world({ status: 503 });
    await send();
    expect(await registry.collect()).toMatchObject([
      { points: [{ attributes: { operation: 'none', binding: 'none', version: 'none', code: '503' }, value: 1 }] },
      { points: [{ attributes: { kind: 'http', code: '503', reason: 'none' }, value: 1 }] },
      { name: 'a2a.server.limits.reached', points: [] },
      {},
    ]);
    expect(metrics).toMatchObject({ requests: 1, errors: 1 });
  });
});
