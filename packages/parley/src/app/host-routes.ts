import { anyAuthenticator } from '../auth/any-authenticator.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { LimitPorts } from '../bindings/http/answer-call.js';
import type { Exchange, ExchangeRequest } from '../bindings/http/exchange.js';
import type { ClientGroups } from '../net/client-address.js';
import type { RecordedAct } from '../push/served-deliveries.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { ProcessFigures } from '../telemetry/server-figures.js';
import type { AgentMount } from './agent-mount.js';
import {
  type FrontPage,
  type HostEndpoint,
  type HostExtension,
  type HostView,
  WITHOUT_FOR_PROBES,
} from './host-extension.js';
import { refusedPlain } from './json-answer.js';
import { allowedOrigins } from './middleware/cors-options.js';
import type { Access } from './middleware/gate.js';
import type { LoadRates } from './middleware/loaded-rates.js';
import { type StartOptions, waitForStart } from './middleware/once-started.js';
import { type Middleware, type RequestWayOptions, requestWay, throughWay } from './middleware/request-way.js';
import type { HostMetrics } from './observability/host-metrics.js';
import { originExchange } from './origin.js';
import { prefixRouter } from './prefix-router.js';

/** The mounts of a host, its extensions, and the ports of its middlewares. */
interface HostRoutesOptions extends RequestWayOptions {
  readonly mounts: readonly AgentMount[];
  readonly extensions: readonly HostExtension[];
  /** The authenticators for endpoints of the host itself: any one is enough. Empty: all callers may use them. */
  readonly authenticators: readonly Authenticator[];
  readonly baseUrl: (request?: ExchangeRequest) => string;
  readonly readiness: HostView['readiness'];
  readonly metrics: HostMetrics | undefined;
  readonly storage: TaskStorage;
  readonly recorded: RecordedAct | undefined;
  readonly process?: ProcessFigures | undefined;
  readonly start: StartOptions;
  readonly loadRates: LoadRates | undefined;
  readonly groupOf: ClientGroups;
  readonly limits: LimitPorts;
}

/** A mount, and its exchange inside of the middlewares. */
interface Route {
  readonly path: string;
  readonly mount: AgentMount;
  readonly exchange: Exchange;
}

/** The paths one segment below the path of an endpoint. */
interface ItemRoute {
  /** With a slash at its end. */
  readonly folder: string;
  /** Matches the segment. */
  readonly items: RegExp;
  readonly exchange: Exchange;
}

/**
 * The exchange of a host: the endpoints of the extensions, the mounts, and the origin, each inside of its middlewares.
 * A request is led to one of them by its path, once, before any middleware sees it.
 */
export class HostRoutes {
  readonly #options: HostRoutesOptions;
  readonly #way: readonly Middleware[];
  /** By their exact path. */
  readonly #endpoints = new Map<string, Exchange>();
  readonly #items: ItemRoute[] = [];
  readonly #route: (path: string) => Route | undefined;
  readonly #origin: Exchange;
  readonly #front: FrontPage | undefined;

  constructor(options: HostRoutesOptions) {
    const { mounts, metrics, baseUrl, authenticators } = options;
    this.#options = options;
    this.#way = requestWay(options, { ...options, metrics: metrics?.requests });
    const own = hostAccess(authenticators);
    this.#route = prefixRouter(mounts.map((mount) => this.#routeOf(mount, own)));
    this.#addEndpoints(own);
    this.#front = options.extensions.find(({ front }) => front !== undefined)?.front;
    this.#origin = throughWay(this.#way, originExchange({ mounts, baseUrl, serves: (path) => this.serves(path) }), {
      accessOf: own && (() => own),
      without: ['answered'],
    });
  }

  /** True if an extension or the host serves a path of its own there. */
  serves(path: string): boolean {
    return this.#endpoints.has(path);
  }

  readonly exchange: Exchange = (request) => {
    const { method } = request;
    // The front page may answer a request to the root.
    const { path } = request.path === '/' && this.#front?.takes(request) === true ? this.#front : request;
    const endpoint = this.#endpoints.get(path) ?? (this.#items.length === 0 ? undefined : this.#itemAt(path));
    if (endpoint !== undefined) return endpoint(request);
    const route = path === '/' && method !== 'POST' ? undefined : this.#route(path);
    return (route?.exchange ?? this.#origin)(request);
  };

  #itemAt(path: string): Exchange | undefined {
    return this.#items.find(({ folder, items }) => path.startsWith(folder) && items.test(path.slice(folder.length)))
      ?.exchange;
  }

  /** The bindings answer every error themselves. No mount needs a credential if `own` is absent. */
  #routeOf(mount: AgentMount, own: Access | undefined): Route {
    const exchange = throughWay(this.#way, mount.exchange, {
      accessOf: own && ((request) => mount.accessTo(request)),
      refusalOf: (request) => mount.refusalOf(request),
      agent: mount.agent,
      without: ['answered'],
    });
    return { path: mount.path, mount, exchange };
  }

  /** If two extensions serve one path, the first one keeps it. */
  #addEndpoints(own: Access | undefined): void {
    const { extensions, authenticators, metrics } = this.#options;
    const accesses = new Map<string, HostEndpoint['access']>();
    const view = this.#view((path) => authenticatorsOf(accesses.get(path)) ?? authenticators);
    const endpoints = extensions.flatMap((extension) => extension.endpoints(view));
    if (metrics?.endpoint !== undefined) {
      const { endpoint: exchange, access } = metrics;
      endpoints.push({ path: '/metrics', exchange, access, without: WITHOUT_FOR_PROBES });
    }
    for (const { path, access } of endpoints) accesses.set(path, access);
    for (const { path, items, exchange, access = own, refuse, around, without } of endpoints) {
      if (this.#endpoints.has(path)) continue;
      const accessOf = access === 'open' || access === undefined ? undefined : () => access;
      const form = refuse ?? (typeof access === 'object' ? access.refuse : refusedPlain);
      const agent = this.#route(path)?.mount.agent;
      const whole = throughWay(this.#way, exchange, { accessOf, refusalOf: () => form, around, agent, without });
      this.#endpoints.set(path, whole);
      if (items !== undefined) this.#items.push({ folder: `${path}/`, items, exchange: whole });
    }
  }

  #view(authenticatorsAt: HostView['authenticatorsAt']): HostView {
    const { mounts, extensions, baseUrl, readiness, metrics, start } = this.#options;
    const { forwarding, compression, cors, process, storage, recorded, clock, ids, logger } = this.#options;
    return {
      mounts,
      baseUrl,
      readiness,
      metrics: metrics?.endpoint,
      metricsAccess: metrics?.access,
      through: (exchange, place) => throughWay(this.#way, exchange, place),
      onceStarted: (exchange) => waitForStart(exchange, start),
      extensions,
      serves: (path) => this.serves(path),
      authenticatorsAt,
      storage,
      recorded,
      auditLog: this.#options.audit?.log,
      forwarding,
      isCompressed: compression !== undefined,
      allowsOrigin: allowedOrigins(cors),
      process,
      clock,
      ids,
      logger,
    };
  }
}

/** The authenticators of an endpoint with a rule of its own. */
function authenticatorsOf(access: HostEndpoint['access']): readonly Authenticator[] | undefined {
  if (access === 'open') return [];
  return access && [access.authenticator];
}

/** The rule for the endpoints of a host itself; `undefined` if neither the host nor an agent has an authenticator. */
function hostAccess(authenticators: readonly Authenticator[]): Access | undefined {
  if (authenticators.length === 0) return undefined;
  return { authenticator: anyAuthenticator(authenticators), refuse: refusedPlain };
}
