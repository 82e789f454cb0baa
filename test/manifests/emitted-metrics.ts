import { LoadMetrics } from '../../packages/parley/src/telemetry/load-metrics.js';
import { MetricRegistry } from '../../packages/parley/src/telemetry/metric-registry.js';
import { metricText } from '../../packages/parley/src/telemetry/metric-text.js';
import { RequestMetrics } from '../../packages/parley/src/telemetry/request-metrics.js';
import { TokenMetrics } from '../../packages/parley/src/telemetry/token-metrics.js';
import { TurnMetrics } from '../../packages/parley/src/telemetry/turn-metrics.js';

/** The text of `/metrics` of a server that has all sources of figures, and has counted each of them. */
export async function metricsText(): Promise<string> {
  const registry = new MetricRegistry();
  const meters = [registry];
  const figures = { delivered: 0, failed: 0, parked: 0, inFlight: 0, oldestWaitMs: 0 };
  const load = new LoadMetrics(meters, {
    runningTurns: () => [['/', 0]],
    openStreams: () => 0,
    waiting: async () => ({ waiting: 0, pendingDeliveries: 0, oldestDueMs: 0 }),
    replica: () => ({ leasesLost: 0, takeovers: 0, lagMs: 0 }),
    cache: () => ({ hits: 0, misses: 0, operations: 0 }),
    push: () => figures,
    process: {
      pid: 1,
      memory: () => ({ rss: 0, heapUsed: 0, heapTotal: 0 }),
      cpu: () => 0,
      uptime: () => 0,
      eventLoopDelay: () => ({ mean: 0, p50: 0, p99: 0, max: 0 }),
    },
  });
  load.committed(1);
  const requests = new RequestMetrics(meters);
  requests.answered(undefined, { status: 200, seconds: 1 });
  requests.told({ kind: 'http', code: '500' });
  requests.limited('turns');
  const turns = new TurnMetrics(meters);
  turns.record({ agent: '/', time: 'queueWait', ms: 1, attempt: 'first' });
  turns.record({ agent: '/', time: 'firstEvent', ms: 1 });
  turns.record({ agent: '/', time: 'taskDuration', ms: 1, outcome: 'completed' });
  const tokens = new TokenMetrics(meters);
  tokens.used({ agent: '/', owner: '' }, { inputTokens: 2, outputTokens: 1, cachedInputTokens: 1 });
  tokens.exceeded('/', 'turn');
  return metricText(await registry.collect(), 'prometheus');
}

/** The names of the series that a server has, as Prometheus has them. */
export async function emittedSeries(): Promise<ReadonlySet<string>> {
  const families = (await metricsText()).matchAll(/^# TYPE (\S+) (\S+)$/gm);
  return new Set(
    [...families].flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    ),
  );
}
