import type { Authenticator } from '../../auth/authenticator.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import { closed, eitherOf, flag, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { TaskStorage } from '../../store/task-storage.js';
import { LoadMetrics, type LoadSources } from '../../telemetry/load-metrics.js';
import type { ServerFigures } from '../../telemetry/merged-figures.js';
import type { Meter } from '../../telemetry/meter.js';
import { MetricRegistry } from '../../telemetry/metric-registry.js';
import { RequestMetrics } from '../../telemetry/request-metrics.js';
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
  readonly sources: LoadSources;
  readonly storage: TaskStorage;
  readonly clock: Clock;
}

/** The measurements at a host of agents, for `/metrics` and for a meter of the application. */
export class HostMetrics {
  readonly requests: RequestMetrics;
  /** Answers `/metrics`; absent if the options switch it off. */
  readonly endpoint: Exchange | undefined;
  /** The rule for readers of `/metrics`; absent if the host decides. */
  readonly access: Access | undefined;
  readonly #registry = new MetricRegistry();
  readonly #setup: HostMetricsOptions;
  readonly #load: LoadMetrics;
  readonly #startedAt: number;
  readonly #leave: readonly ((() => void) | undefined)[];

  constructor(setup: HostMetricsOptions) {
    const { options, sources, storage, clock } = setup;
    this.#setup = setup;
    this.#startedAt = clock.monotonic();
    const meters = options.meter === undefined ? [this.#registry] : [this.#registry, options.meter];
    this.requests = new RequestMetrics(meters);
    this.#load = new LoadMetrics(meters, sources);
    const { siblings } = storage;
    this.#leave = [storage.watchCommits?.(this.#load.committed), siblings?.offer(() => this.#own())];
    const { endpoint = true, authenticator } = options;
    // Many servers are never asked for their figures.
    if (endpoint) {
      this.endpoint = onDemand(async () => {
        const { metricsEndpoint } = await import('./metrics-endpoint.js');
        return metricsEndpoint({ families: async () => (await this.#all()).families, json: this.#json });
      });
    }
    this.access = authenticator && { authenticator, required: true, refuse: refusedPlain };
  }

  /** Nothing more is measured. */
  close(): void {
    for (const leave of this.#leave) leave?.();
    this.#load.close();
  }

  readonly #json: Exchange = readOnly(async () => {
    const { metricsJson } = await import('./metrics-json.js');
    const value = metricsJson(await this.#all(), this.#setup.clock.now());
    return jsonAnswer({ status: 200, value, headers: { 'cache-control': 'no-store' } });
  });

  async #own(): Promise<ServerFigures> {
    const { sources, clock } = this.#setup;
    const { requests, errors, errorsByCode } = this.requests;
    const memory = sources.process?.memory();
    const cache = sources.cache?.();
    return {
      families: await this.#registry.collect(),
      uptimeSeconds: (clock.monotonic() - this.#startedAt) / 1000,
      requests,
      errors,
      errorsByCode,
      ...(memory && { memory }),
      ...(cache && { cache }),
    };
  }

  /** The figures of all processes that answer as one server. If the others cannot be asked, those of this one. */
  async #all(): Promise<ServerFigures> {
    const { siblings } = this.#setup.storage;
    const all = (await siblings?.collect().catch(() => [])) as readonly ServerFigures[] | undefined;
    if (all === undefined || all.length === 0) return this.#own();
    const { mergedFigures } = await import('../../telemetry/merged-figures.js');
    return mergedFigures(all);
  }
}
