import { metrics, type Meter as OpenTelemetryMeter } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { LoadMetrics } from './load-metrics.js';
import type { Meter } from './meter.js';
import { RequestMetrics } from './request-metrics.js';

it('a meter of OpenTelemetry is one: by its types, and by what is done with it', () => {
  const theirs: OpenTelemetryMeter = metrics.getMeter('parley');
  const meter: Meter = theirs;
  const requests = new RequestMetrics([meter]);
  const load = new LoadMetrics([meter], {
    runningTurns: () => [],
    openStreams: () => 0,
    waiting: async () => ({ waiting: 0 }),
    cache: () => ({ hits: 0, misses: 0, operations: 0 }),
  });
  const call = { operation: 'getTask', binding: 'JSONRPC', version: '1.0', code: 'OK' };
  requests.answered(call, { status: 200, seconds: 0.1 });
  load.committed(3);
  load.close();
  expect(requests.requests).toBe(1);
});
