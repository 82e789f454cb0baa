import { anyAuthenticator } from '../auth/any-authenticator.js';
import type { Authenticator } from '../auth/authenticator.js';
import { addressKeyOf } from '../auth/user.js';
import type { LimitPorts } from '../bindings/http/answer-call.js';
import { BodyBudget, DEFAULT_BODY_MEMORY } from '../bindings/http/body-budget.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import { accepted } from '../bindings/http/media-type.js';
import type { ErrorCode } from '../errors/a2a-error.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { BoundInterface } from '../model/bound-interface.js';
import { type ClientGroups, clientGroups, isLoopbackGroup } from '../net/client-address.js';
import type { TrustedProxies } from '../net/trusted-proxy.js';
import { pushRules } from '../push/push-rules.js';
import type { RecordedAct, ServedDeliveries } from '../push/served-deliveries.js';
import type { Clock } from '../runtime/clock.js';
import { KeyedPlaces } from '../runtime/keyed-places.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import { EngineNode } from '../server/execution/engine-node.js';
import { type RetentionPolicy, RetentionSweeper } from '../server/retention-sweeper.js';
import type { ServedTasks } from '../server/served-tasks.js';
import type { Logger } from '../telemetry/logger.js';
import type { ReachedLimit } from '../telemetry/reached-limit.js';
import type { ProcessFigures } from '../telemetry/server-figures.js';
import { AgentMount } from './agent-mount.js';
import type { LoadSignedCards } from './card-signing.js';
import {
  type HostEndpoint,
  type HostExtension,
  type HostView,
  type ListenAddress,
  WITHOUT_FOR_PROBES,
} from './host-extension.js';
import { HostSender } from './host-sender.js';
import { errorAnswer, refusedPlain } from './json-answer.js';
import { type ConcurrencyLimits, DEFAULT_CONCURRENCY } from './limits/concurrency.js';
import type { RateLimitOptions } from './limits/rate-limit-options.js';
import { varying } from './middleware/answer-headers.js';
import { allowedOrigins } from './middleware/cors.js';
import type { Access, AccessOf } from './middleware/gate.js';
import type { KnownHostsOptions } from './middleware/known-hosts.js';
import type { LoadRates } from './middleware/loaded-rates.js';
import { otherMethod, READ_METHODS } from './middleware/method-filter.js';
import { countBrokenStream } from './middleware/observed-exchange.js';
import { onceStarted } from './middleware/once-started.js';
import {
  type ItemPaths,
  type RequestWayOptions,
  requestWay,
  routed,
  routedItems,
  throughWay,
} from './middleware/request-way.js';
import { mountPaths } from './mount-paths.js';
import { HostMetrics, type MetricsOptions } from './observability/host-metrics.js';
import { Readiness } from './observability/readiness.js';
import { type AgentOptions, DEFAULT_VERSIONS } from './options/agent-options.js';
import { type AgentsByPath, agentAt } from './options/agents-by-path.js';
import { originListing } from './origin-listing.js';
import { prefixRouter } from './prefix-router.js';
import type { PushPorts } from './push-delivery.js';
import { type AgentPorts, ServedAgent, type TaskOwner } from './served-agent.js';

const NOTHING_HERE = errorAnswer({
  status: 404,
  message: 'No agent is served here. GET / lists the agents of this server',
});

/** The time of requests to webhooks, if the turns have used up the grace. */
const LAST_DELIVERIES_MS = 1_000;

/** The agents of a host, their ports, and the settings of the host. */
export interface AgentHostOptions extends AgentPorts, Omit<RequestWayOptions, 'knownHosts'> {
  readonly agents: AgentsByPath;
  /** Authenticates callers of the endpoints of the host itself, and of agents without an authenticator. */
  readonly authenticator?: Authenticator | undefined;
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request?: ExchangeRequest) => string;
  /** The host names of the host. Absent: all host names. */
  readonly knownHosts?: Omit<KnownHostsOptions, 'isOpen' | 'refused'> | undefined;
  readonly cardMaxAgeSeconds: number;
  readonly bodyMemory?: number | undefined;
  /** The proxies whose forwarded headers tell the addresses of clients. */
  readonly isTrustedProxy?: TrustedProxies | undefined;
  readonly concurrency?: Partial<ConcurrencyLimits> | undefined;
  readonly rateLimit?: RateLimitOptions | undefined;
  /** Signs the cards of all agents. */
  readonly signing?: LoadSignedCards | undefined;
  readonly retention?: Partial<RetentionPolicy> | undefined;
  /** Endpoints beside the agents. If two extensions serve one path, the first one keeps it. */
  readonly extensions: readonly HostExtension[];
  /** Absent: the host measures nothing. */
  readonly metrics?: MetricsOptions | undefined;
  /** The ports of push notifications. Absent: the agents send none. */
  readonly push?: PushPorts | undefined;
  /** The figures of the process, if the host knows them. */
  readonly process?: ProcessFigures | undefined;
}

/** The mounts of one origin as one exchange, with a list of the agents at the root and the endpoints of extensions. */
export class AgentHost {
  readonly exchange: Exchange;
  readonly #agents: readonly ServedAgent[];
  readonly #mounts: readonly AgentMount[];
  readonly #baseUrl: (request?: ExchangeRequest) => string;
  readonly #sweeper: RetentionSweeper;
  readonly #route: (path: string) => AgentMount | undefined;
  readonly #readiness: Readiness;
  readonly #endpoints = new Map<string, Exchange>();
  readonly #metrics: HostMetrics | undefined;
  readonly #sender: HostSender | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groupOf: ClientGroups;
  readonly #signing: LoadSignedCards | undefined;
  readonly #extensions: readonly HostExtension[];
  readonly #recorded: RecordedAct | undefined;
  #starting: Promise<void> | undefined;
  #started = false;

  constructor(options: AgentHostOptions) {
    const agents = new Map<AgentOptions, ServedAgent>();
    const modifiedAt = options.clock.now();
    const streamBroke = (code: ErrorCode) => this.#metrics && countBrokenStream(this.#metrics.requests, code);
    const bodies = new BodyBudget({ maxBytes: options.bodyMemory ?? DEFAULT_BODY_MEMORY, clock: options.clock });
    const node = new EngineNode(options);
    this.#logger = options.logger;
    this.#signing = options.signing;
    this.#extensions = options.extensions;
    this.#groupOf = clientGroups(options.isTrustedProxy);
    const { streamsPerCaller, streams, turnsPerCaller, turns } = { ...DEFAULT_CONCURRENCY, ...options.concurrency };
    const streamPlaces = new KeyedPlaces({ perKey: streamsPerCaller, total: streams });
    const ports = {
      ...options,
      bodies,
      node,
      streamBroke,
      streamPlaces,
      registration: options.push && pushRules(options.push),
      turnPlaces: new KeyedPlaces({ perKey: turnsPerCaller, total: turns }),
      services: Object.assign({}, ...options.extensions.map(({ turnPorts }) => turnPorts)),
      addressOf: limitedAddresses(this.#groupOf, options.isTrustedProxy),
      limitReached: this.limitReached,
    };
    this.#mounts = Object.keys(options.agents).map((path) => {
      const { options: agentOptions, home, versions = DEFAULT_VERSIONS } = agentAt(options.agents, path);
      const authenticator = agentOptions.authenticator ?? options.authenticator;
      const protectedOptions = authenticator === undefined ? agentOptions : { ...agentOptions, authenticator };
      const callbackUrl = () => urlBelow(options.baseUrl(), mountPaths(path).authorizations);
      const place = { path: home, id: agentOptions.id ?? home, hasEngine: agentOptions.handler === undefined };
      const around = options.extensions.flatMap((extension) => extension.aroundAgent?.(place) ?? []);
      const setup = { path: home, options: protectedOptions, ports, callbackUrl, around };
      const agent = agents.get(agentOptions) ?? new ServedAgent(setup);
      agents.set(agentOptions, agent);
      const { cardMaxAgeSeconds, baseUrl, signing, extensions } = options;
      return new AgentMount({
        agent,
        path,
        versions,
        modifiedAt,
        cardMaxAgeSeconds,
        baseUrl,
        signing,
        furtherInterfaces: (mount, base) => extensions.flatMap((one) => one.interfaces?.(mount, base) ?? []),
        furtherExtensions: (mount, base) => extensions.flatMap((one) => one.cardExtensions?.(mount, base) ?? []),
      });
    });
    this.#agents = [...agents.values()];
    this.#baseUrl = options.baseUrl;
    // Receivers compare the times of notifications with their own.
    this.#sender = this.#makeSender({ ...options, clock: node.clock }, node);
    this.#clock = options.clock;
    this.#recorded =
      options.audit &&
      (async (act, run) => (await import('./middleware/audited-exchange.js')).recordedAct(act, run, options));
    this.#sweeper = new RetentionSweeper({ ...options, ...(options.retention && { policy: options.retention }) });
    this.#route = prefixRouter(this.#mounts);
    const checks = options.extensions.flatMap((extension) => extension.checks ?? []);
    this.#readiness = new Readiness({ ...options, checks, started: () => this.start() });
    this.#metrics = this.#measure(options, { streamPlaces, node });
    this.exchange = this.#compose(options, ports);
  }

  /** Puts the middlewares around the agents and around each endpoint of the extensions. */
  #compose(options: AgentHostOptions, limits: LimitPorts): Exchange {
    const { extensions, knownHosts, logger } = options;
    const start = { isStarted: () => this.#started, start: () => this.start(), logger };
    const way = requestWay(
      {
        ...options,
        knownHosts: knownHosts && {
          ...knownHosts,
          isOpen: () => this.#agents.some(({ isOpen }) => isOpen),
          refused: this.refused,
        },
      },
      { metrics: this.#metrics?.requests, start, loadRates: this.#ratesOf(options), groupOf: this.#groupOf, limits },
    );
    const figures = this.#metrics?.endpoint;
    const own = hostAuthenticators(options.authenticator, this.#agents);
    const accesses = new Map<string, HostEndpoint['access']>();
    const view: HostView = {
      mounts: this.#mounts,
      baseUrl: this.#baseUrl,
      readiness: this.#readiness,
      metrics: figures,
      metricsAccess: this.#metrics?.access,
      through: (exchange, place) => throughWay(way, exchange, place),
      onceStarted: (exchange) => onceStarted(exchange, start),
      extensions,
      serves: (path) => this.#endpoints.has(path),
      authenticatorsAt: (path) => authenticatorsOf(accesses.get(path)) ?? own,
      forwarding: options.forwarding,
      isCompressed: options.compression !== undefined,
      allowsOrigin: allowedOrigins(options.cors),
      process: options.process,
      clock: options.clock,
      ids: options.ids,
      logger,
    };
    const endpoints = extensions.flatMap((extension) => extension.endpoints(view));
    const { metricsAccess } = view;
    if (figures !== undefined) {
      endpoints.push({ path: '/metrics', exchange: figures, access: metricsAccess, without: WITHOUT_FOR_PROBES });
    }
    for (const { path, access } of endpoints) accesses.set(path, access);
    const ownAccess = hostAccess(own);
    const families: ItemPaths[] = [];
    for (const { path, items, exchange, access = ownAccess, refuse, around, without } of endpoints) {
      const accessOf = access === 'open' || access === undefined ? undefined : () => access;
      const form = refuse ?? (typeof access === 'object' ? access.refuse : refusedPlain);
      const place = { accessOf, refusalOf: () => form, around, without };
      if (this.#endpoints.has(path)) continue;
      const whole = throughWay(way, exchange, place);
      this.#endpoints.set(path, whole);
      if (items !== undefined) families.push({ folder: `${path}/`, items, exchange: whole });
    }
    // The bindings answer every error themselves.
    const others = throughWay(way, this.#answer, {
      accessOf: this.#accessOf(ownAccess),
      refusalOf: (request) => this.#mountOf(request)?.refusalOf(request) ?? refusedPlain,
      without: ['answered'],
    });
    return routed(this.#endpoints, families.length === 0 ? others : routedItems(families, others));
  }

  /** Counts and logs what a limit refused. The line has the level debug, because floods reach limits. */
  readonly limitReached = (reached: ReachedLimit): void => {
    this.#metrics?.requests.limited(reached.limit);
    this.#logger.debug('A limit was reached', { ...reached });
  };

  /** Counts a request that was refused with a status before its exchange. */
  readonly refused = (status: number): void => this.#metrics?.requests.refused(status);

  /** Opens the sockets of the extensions. */
  async listen(address: ListenAddress): Promise<void> {
    for (const extension of this.#extensions) await extension.listen?.(address);
    for (const mount of this.#mounts) mount.renew();
  }

  /** Closes the sockets of the extensions at once, because the server of the host cannot listen. */
  async closeSockets(): Promise<void> {
    await this.#clock.hold(Promise.all(this.#extensions.map((extension) => extension.close?.(0))));
  }

  /** Lets the extensions accept no more calls on their own connections. */
  stopAccepting(): void {
    for (const extension of this.#extensions) extension.stopAccepting?.();
  }

  /** The rule for requests to the mounts, the origin and unknown paths. Absent if no request needs a credential. */
  #accessOf(own: Access | undefined): AccessOf | undefined {
    if (own === undefined) return undefined;
    return (request) => {
      const mount = this.#mountOf(request);
      return mount === undefined ? own : mount.accessTo(request);
    };
  }

  /** The mount that a request is for; `undefined` for the origin and for unknown paths. */
  #mountOf({ method, path, agentPath = path }: ExchangeRequest): AgentMount | undefined {
    return path === '/' && method !== 'POST' ? undefined : this.#route(agentPath);
  }

  /** Loads the rates of the host and its agents once; `undefined` if there are none. */
  #ratesOf({ rateLimit, storage, clock, logger }: AgentHostOptions): LoadRates | undefined {
    const hasRates =
      rateLimit !== undefined || this.#agents.some(({ ratePerPrincipal }) => ratePerPrincipal !== undefined);
    if (!hasRates) return undefined;
    const rates = new LoadedOnDemand(async () => {
      const { RateLimits } = await import('./limits/rate-limits.js');
      const agentRate = (request: ExchangeRequest) => {
        const { id, ratePerPrincipal: rate } = this.#mountOf(request)?.agent ?? {};
        return id === undefined || rate === undefined ? undefined : { agent: id, rate };
      };
      return new RateLimits({
        options: rateLimit,
        agentRate,
        groupOf: this.#groupOf,
        reached: this.limitReached,
        counters: storage.rateCounters,
        clock,
        logger,
      });
    });
    return () => rates.get();
  }

  /** The paths of the agents that take calls without a credential. */
  get openPaths(): readonly string[] {
    return this.#mounts.filter(({ agent }) => agent.isOpen).map(({ path }) => path);
  }

  /** The interfaces that are served now, by path. */
  get interfaces(): Readonly<Record<string, readonly BoundInterface[]>> {
    const base = this.#baseUrl();
    return Object.fromEntries(this.#mounts.map((mount) => [mount.path, mount.interfaces(base)]));
  }

  /** The current public cards, by path. */
  get cards(): Readonly<Record<string, AgentCard>> {
    const base = this.#baseUrl();
    return Object.fromEntries(this.#mounts.map((mount) => [mount.path, mount.card(base)]));
  }

  /**
   * The tasks of the agent under a path, for the application's own code.
   * @throws OptionsError if no agent is there, or it has a handler of its own.
   */
  tasks(path: string, owner: TaskOwner = {}): ServedTasks {
    return this.#mountAt('tasks', path).agent.tasks(owner);
  }

  /**
   * The push deliveries of the agent under a path, for the application's own code.
   * @throws OptionsError if no agent is there, or it has a handler of its own.
   */
  deliveries(path: string): ServedDeliveries {
    return this.#mountAt('deliveries', path).agent.deliveries(this.#recorded);
  }

  #mountAt(subject: string, path: string): AgentMount {
    const mount = this.#mounts.find((one) => one.path === path);
    if (mount === undefined) throw new OptionsError(subject, [`no agent is served at "${path}"`]);
    return mount;
  }

  /** Takes over the turns of an earlier process. The first request waits for it. After a failure it may run again. */
  start(): Promise<void> {
    // A key that cannot sign is an error at the start.
    this.#starting ??= Promise.all([this.#signing?.(), ...this.#agents.map((agent) => agent.start())]).then(
      () => {
        this.#started = true;
        this.#sweeper.start();
        this.#sender?.start();
      },
      (error: unknown) => {
        this.#starting = undefined;
        throw error;
      },
    );
    return this.#starting;
  }

  /** Fails `/readyz` from now on, so that load balancers send no more requests. */
  drain(): void {
    this.#readiness.drain();
  }

  /** Lets running turns end for a grace; the storage stays open. */
  close(graceMs: number): Promise<void> {
    return this.#clock.hold(this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    await this.#sweeper.stop();
    const since = this.#clock.monotonic();
    await Promise.all(this.#agents.map((agent) => agent.close(graceMs)));
    // The last events of the turns are on their way only now.
    const left = graceMs - (this.#clock.monotonic() - since);
    await Promise.all(this.#extensions.map((extension) => extension.close?.(graceMs)));
    await this.#sender?.close(Math.max(left, Math.min(graceMs, LAST_DELIVERIES_MS)));
    this.#metrics?.close();
  }

  #makeSender(options: AgentHostOptions, node: EngineNode): HostSender | undefined {
    const { push, logger } = options;
    const pushing = new Map(this.#agents.flatMap((one) => (one.isPushing ? [[one.id, one.notifications]] : [])));
    if (push === undefined || pushing.size === 0) return undefined;
    const load = async () => {
      const { leaseMs } = node.lease;
      return (await import('./push-delivery.js')).senderOf(push, pushing, { ...options, leaseMs });
    };
    return new HostSender({ load, logger });
  }

  #measure(
    { metrics, process, extensions, storage, clock }: AgentHostOptions,
    { streamPlaces, node }: { readonly streamPlaces: KeyedPlaces; readonly node: EngineNode },
  ): HostMetrics | undefined {
    if (metrics === undefined) return undefined;
    const sender = this.#sender;
    const sources = {
      runningTurns: () => this.#agents.map(({ id, runningTurns }) => [id, runningTurns] as const),
      openStreams: () => streamPlaces.total,
      waiting: () => this.#readiness.load(),
      replica: storage.shared ? () => ({ ...node.figures, lagMs: node.lagMs }) : undefined,
      cache: extensions.find(({ cacheFigures }) => cacheFigures !== undefined)?.cacheFigures,
      process,
      push: sender && (() => sender.figures),
    };
    return new HostMetrics({ options: metrics, sources, storage, clock });
  }

  readonly #answer: Exchange = (request) => {
    const { method, path } = request;
    const base = this.#baseUrl(request);
    if (path === '/' && method !== 'POST') return this.#origin(request, base);
    const mount = this.#route(path);
    if (mount === undefined) return Promise.resolve(NOTHING_HERE);
    if (method !== 'POST' && (path === mount.path || path === `${mount.path}/`)) {
      if (prefersPage(request)) return this.#page([mount], base);
      return mount
        .exchange(base)(request)
        .then((answer) => varying(answer, 'Accept'));
    }
    return mount.exchange(base)(request);
  };

  async #origin(request: ExchangeRequest, base: string): Promise<ExchangeResponse> {
    const { method } = request;
    if (prefersPage(request)) return this.#page(this.#mounts, base);
    if (method === 'GET' || method === 'HEAD') return varying(originListing(this.#mounts, base), 'Accept');
    const methods = this.#route('/') === undefined ? READ_METHODS : [...READ_METHODS, 'POST'];
    return otherMethod(method, { methods, message: 'This method means nothing here' });
  }

  async #page(mounts: readonly AgentMount[], base: string): Promise<ExchangeResponse> {
    const partial = mounts.length < this.#mounts.length;
    const { landingAnswer } = await import('./landing-page.js');
    return varying(await landingAnswer({ mounts, base, documented: this.#endpoints.has('/docs'), partial }), 'Accept');
  }
}

/** A path below the base url; "" while the host has no address. */
function urlBelow(base: string, path: string): string {
  return base === '' ? '' : `${base}${path}`;
}

/** The authenticators for endpoints of the host. */
function hostAuthenticators(
  given: Authenticator | undefined,
  agents: readonly ServedAgent[],
): readonly Authenticator[] {
  return given === undefined ? [...new Set(agents.flatMap(({ authenticator }) => authenticator ?? []))] : [given];
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

/**
 * The addresses that limits count for. A client on this machine has none: it may be a proxy that is not in
 * `trustProxy`, and all its clients would share one limit. A client that a trusted proxy tells always has one.
 */
function limitedAddresses(
  groupOf: ClientGroups,
  isTrustedProxy: TrustedProxies | undefined,
): (request: ExchangeRequest) => string | undefined {
  return (request) => {
    const group = groupOf(request);
    if (group === undefined) return undefined;
    return isLoopbackGroup(group) && isTrustedProxy?.(request.peer) !== true ? undefined : addressKeyOf(group);
  };
}

/** True if a request comes from a browser: it reads, and prefers a page to JSON. */
function prefersPage(request: ExchangeRequest): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  return accepted(request.header('accept'), ['application/json', 'text/html']) === 'text/html';
}
