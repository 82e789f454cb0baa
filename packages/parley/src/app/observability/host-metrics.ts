import type { Authenticator } from '../../auth/authenticator.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import { eitherOf, flag, optionObject, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import type { TaskStorage } from '../../store/task-storage.js';
import { LoadMetrics, type LoadSources } from '../../telemetry/load-metrics.js';
import type { Meter } from '../../telemetry/meter.js';
import { MetricRegistry } from '../../telemetry/metric-registry.js';
import { RequestMetrics } from '../../telemetry/request-metrics.js';
import { TokenMetrics } from '../../telemetry/token-metrics.js';
import { TurnMetrics } from '../../telemetry/turn-metrics.js';
import { refusedPlain } from '../json-answer.js';
import type { Access } from '../middleware/gate.js';
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
    optionObject({
      meter: Type.Optional(withMethod('createHistogram')),
      endpoint: Type.Optional(flag),
      authenticator: Type.Optional(withMethod('authenticate')),
    }),
  ],
  'must be true, false, or an object with meter, endpoint, authenticator',
);

/** The sources of the figures of a host. */
interface HostMetricsOptions {
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
  readonly #load: LoadMetrics;
  readonly #leave: readonly ((() => void) | undefined)[];

  constructor(setup: HostMetricsOptions) {
    const { options, sources, storage, clock } = setup;
    const meters = [this.#registry, ...(options.meter === undefined ? setup.meters : [options.meter])];
    this.requests = new RequestMetrics(meters);
    this.turns = new TurnMetrics(meters);
    this.tokens = new TokenMetrics(meters);
    this.#load = new LoadMetrics(meters, sources);
    const { requests } = this;
    const measured = { registry: this.#registry, requests, sources, storage, clock, startedAt: clock.monotonic() };
    // Many servers are never asked for their figures.
    const load = () => import('./metrics-endpoint.js');
    this.#leave = [
      storage.watchCommits?.(this.#load.committed),
      storage.siblings?.offer(async () => (await load()).ownFigures(measured)),
    ];
    const { endpoint = true, authenticator } = options;
    if (endpoint) this.endpoint = onDemand(async () => (await load()).metricsEndpoint(measured));
    this.access = authenticator && { authenticator, required: true, refuse: refusedPlain };
  }

  /** Nothing more is measured. */
  close(): void {
    for (const leave of this.#leave) leave?.();
    this.#load.close();
  }
}
