import type { Authenticator } from '../../auth/authenticator.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import { closed, eitherOf, flag, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { TaskStorage } from '../../store/task-storage.js';
import { LoadMetrics, type LoadSources } from '../../telemetry/load-metrics.js';
import type { Meter } from '../../telemetry/meter.js';
import { MetricRegistry } from '../../telemetry/metric-registry.js';
import { RequestMetrics } from '../../telemetry/request-metrics.js';
import { TokenMetrics } from '../../telemetry/token-metrics.js';
import { TurnMetrics } from '../../telemetry/turn-metrics.js';
import { jsonAnswer, refusedPlain } from '../json-answer.js';
import type { Access } from '../middleware/gate.js';
import { readOnly } from '../middleware/method-filter.js';
import { onDemand } from '../middleware/on-demand.js';

/** The metrics of a server and their readers. */
export interface MetricsOptions {
  /** A meter of OpenTelemetry that also gets all measurements. */
  readonly meter?: Meter;
  /** True if the host answers `/metrics`; default true. */
  readonly endpoint?: boolean;
  /** Authenticates readers of `/metrics`; default: the authenticator of the host. */
  readonly authenticator?: Authenticator;
}

/** The schema of `metrics` of a server. */
export const metricsSchema = eitherOf(
  [
    flag,
    closed({
      meter: Type.Optional(withMethod('createHistogram')),
      endpoint: Type.Optional(flag),
      authenticator: Type.Optional(withMethod('authenticate')),
    }),
  ],
  'must be true, false, or an object with meter, endpoint, authenticator',
);

/** The sources of the figures of a host. */
export interface HostMetricsOptions {
  readonly options: MetricsOptions;
  /** The meters of extensions. An option `meter` takes their place. */
  readonly meters: readonly Meter[];
  readonly sources: LoadSources;
  readonly storage: TaskStorage;
  readonly clock: Clock;
}

/** The measurements at a host of agents, for `/metrics` and for a meter of the application. */
export class HostMetrics {
  readonly requests: RequestMetrics;
  readonly turns: TurnMetrics;
  readonly tokens: TokenMetrics;
  /** Answers `/metrics`; absent if the options switch it off. */
  readonly endpoint: Exchange | undefined;
  /** The rule for readers of `/metrics`; absent if the host decides. */
  readonly access: Access | undefined;
  readonly #registry = new MetricRegistry();
  readonly #setup: HostMetricsOptions;
  readonly #load: LoadMetrics;
  readonly #startedAt: number;
  readonly #leave: (() => void) | undefined;

  constructor(setup: HostMetricsOptions) {
    const { options, sources, storage, clock } = setup;
    this.#setup = setup;
    this.#startedAt = clock.monotonic();
    const meters = [this.#registry, ...(options.meter === undefined ? setup.meters : [options.meter])];
    this.requests = new RequestMetrics(meters);
    this.turns = new TurnMetrics(meters);
    this.tokens = new TokenMetrics(meters);
    this.#load = new LoadMetrics(meters, sources);
    this.#leave = storage.watchCommits?.(this.#load.committed);
    const { endpoint = true, authenticator } = options;
    // Many servers are never asked for their figures.
    if (endpoint) {
      this.endpoint = onDemand(async () => {
        const { metricsEndpoint } = await import('./metrics-endpoint.js');
        return metricsEndpoint({ registry: this.#registry, json: this.#json });
      });
    }
    this.access = authenticator && { authenticator, required: true, refuse: refusedPlain };
  }

  /** Nothing more is measured. */
  close(): void {
    this.#leave?.();
    this.#load.close();
  }

  readonly #json: Exchange = readOnly(async () => {
    const { sources, clock } = this.#setup;
    const { metricsJson } = await import('./metrics-json.js');
    const value = metricsJson({
      uptimeSeconds: (clock.monotonic() - this.#startedAt) / 1000,
      requests: this.requests,
      process: sources.process,
      cache: sources.cache?.(),
      now: clock.now(),
    });
    return jsonAnswer({ status: 200, value, headers: { 'cache-control': 'no-store' } });
  });
}
