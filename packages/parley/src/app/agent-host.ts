import { nameAndVersion } from '../agent-card/build-agent-card.js';
import type { Authenticator } from '../auth/authenticator.js';
import { addressKeyOf } from '../auth/user.js';
import type { LimitPorts } from '../bindings/http/answer-call.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import type { ErrorCode } from '../errors/a2a-error.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { BoundInterface } from '../model/bound-interface.js';
import { type ClientGroups, clientGroups, isLoopbackGroup } from '../net/client-address.js';
import type { TrustedProxies } from '../net/trusted-proxy.js';
import { pushRules } from '../push/push-rules.js';
import type { RecordedAct, ServedDeliveries } from '../push/served-deliveries.js';
import type { Clock } from '../runtime/clock.js';
import { keptResults } from '../runtime/kept-results.js';
import { KeyedPlaces } from '../runtime/keyed-places.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import { EngineNode } from '../server/execution/engine-node.js';
import { RetentionSweeper } from '../server/retention-sweeper.js';
import type { ServedTasks } from '../server/served-tasks.js';
import type { TurnPorts } from '../server/turn-ports.js';
import type { Logger } from '../telemetry/logger.js';
import type { ReachedLimit } from '../telemetry/reached-limit.js';
import type { ProcessFigures } from '../telemetry/server-figures.js';
import type { Tracing } from '../telemetry/tracing.js';
import { AgentMount } from './agent-mount.js';
import type { LoadSignedCards } from './card-signing.js';
import type { HostExtension, ListenAddress } from './host-extension.js';
import { HostRoutes } from './host-routes.js';
import { HostSender } from './host-sender.js';
import { DEFAULT_CONCURRENCY } from './limits/concurrency.js';
import type { KnownHostsOptions } from './middleware/known-hosts.js';
import type { LoadRates } from './middleware/loaded-rates.js';
import { countBrokenStream } from './middleware/observed-exchange.js';
import type { StartOptions } from './middleware/once-started.js';
import type { RequestWayOptions } from './middleware/request-way.js';
import { mountPaths } from './mount-paths.js';
import { HostMetrics, type MetricsOptions } from './observability/host-metrics.js';
import type { Readiness } from './observability/readiness.js';
import { type AgentOptions, DEFAULT_VERSIONS } from './options/agent-options.js';
import { type AgentsByPath, agentAt } from './options/agents-by-path.js';
import type { HostOptions } from './options/host-options.js';
import { agentsPage } from './origin.js';
import type { PushPorts } from './push-delivery.js';
import { type AgentPorts, ServedAgent, type TaskOwner } from './served-agent.js';

/** The time of requests to webhooks, if the turns have used up the grace. */
const LAST_DELIVERIES_MS = 1_000;

/** Peers whose names in limits are remembered. Most peers send many requests. */
const MOST_PEERS = 1_000;

/** The options of an application that its host takes as they are. */
type HostOptionsAsGiven = {
  readonly [Name in 'authenticator' | 'concurrency' | 'rateLimit' | 'retention' | 'tokenBudget']?:
    | HostOptions[Name]
    | undefined;
};

/** The agents of a host, their ports, and the settings of the host. */
export interface AgentHostOptions extends AgentPorts, HostOptionsAsGiven, Omit<RequestWayOptions, 'knownHosts'> {
  readonly agents: AgentsByPath;
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request?: ExchangeRequest) => string;
  /** The host names of the host. Absent: all host names. */
  readonly knownHosts?: Omit<KnownHostsOptions, 'isOpen' | 'refused'> | undefined;
  readonly cardMaxAgeSeconds: number;
  /** The proxies whose forwarded headers tell the addresses of clients. */
  readonly isTrustedProxy?: TrustedProxies | undefined;
  /** Signs the cards of all agents. */
  readonly signing?: LoadSignedCards | undefined;
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
  readonly #routes: HostRoutes;
  readonly #readiness: LoadedOnDemand<Readiness>;
  #isDraining = false;
  readonly #metrics: HostMetrics | undefined;
  readonly #sender: HostSender | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groupOf: ClientGroups;
  readonly #signing: LoadSignedCards | undefined;
  readonly #extensions: readonly HostExtension[];
  readonly #recorded: RecordedAct | undefined;
  readonly #start: StartOptions & { isStarted: boolean };
  #starting: Promise<void> | undefined;

  constructor(options: AgentHostOptions) {
    const agents = new Map<AgentOptions, ServedAgent>();
    const modifiedAt = options.clock.now();
    const streamBroke = (code: ErrorCode) => this.#metrics && countBrokenStream(this.#metrics.requests, code);
    const node = new EngineNode(options);
    this.#logger = options.logger;
    this.#signing = options.signing;
    this.#start = { isStarted: false, start: () => this.start(), logger: options.logger };
    this.#extensions = options.extensions;
    this.#groupOf = clientGroups(options.isTrustedProxy);
    const { streamsPerCaller, streams, turnsPerCaller, turns } = { ...DEFAULT_CONCURRENCY, ...options.concurrency };
    const streamPlaces = new KeyedPlaces({ perKey: streamsPerCaller, total: streams });
    const turnPorts: TurnPorts = Object.assign(
      this.#countingPorts(options),
      ...options.extensions.map((extension) => extension.turnPorts),
    );
    const ports = {
      ...options,
      node,
      streamBroke,
      streamPlaces,
      registration: options.push && pushRules(options.push),
      turnPlaces: new KeyedPlaces({ perKey: turnsPerCaller, total: turns }),
      turnPorts,
      addressOf: limitedAddresses(this.#groupOf, options.isTrustedProxy),
      limitReached: this.limitReached,
    };
    this.#mounts = Object.keys(options.agents).map((path) => {
      const { options: agentOptions, home, versions = DEFAULT_VERSIONS } = agentAt(options.agents, path);
      const authenticator = agentOptions.authenticator ?? options.authenticator;
      const protectedOptions = authenticator === undefined ? agentOptions : { ...agentOptions, authenticator };
      const callbackUrl = () => urlBelow(options.baseUrl(), mountPaths(path).authorizations);
      const { id = home, handler } = agentOptions;
      const place = { path: home, id, hasEngine: handler === undefined, ...nameAndVersion(agentOptions) };
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
        page: (mount, base) => this.#pageOf(mount, base),
        furtherInterfaces: (mount, base) => extensions.flatMap((one) => one.interfaces?.(mount, base) ?? []),
        furtherExtensions: (mount, base) => extensions.flatMap((one) => one.cardExtensions?.(mount, base) ?? []),
      });
    });
    this.#agents = [...agents.values()];
    this.#baseUrl = options.baseUrl;
    // Receivers compare the times of notifications with their own.
    this.#sender = this.#makeSender({ ...options, clock: node.clock }, { node, tracing: turnPorts.tracing });
    this.#clock = options.clock;
    this.#recorded =
      options.audit &&
      (async (act, run) => (await import('./middleware/audited-exchange.js')).recordedAct(act, run, options));
    this.#sweeper = new RetentionSweeper({ ...options, ...(options.retention && { policy: options.retention }) });
    const checks = options.extensions.flatMap((extension) => extension.checks ?? []);
    this.#readiness = new LoadedOnDemand(async () => {
      const { Readiness } = await import('./observability/readiness.js');
      return new Readiness({ ...options, checks, started: () => this.start(), isDraining: () => this.#isDraining });
    });
    this.#metrics = this.#measure(options, { streamPlaces, node });
    this.#routes = this.#makeRoutes(options, ports);
    this.exchange = this.#routes.exchange;
  }

  #makeRoutes(
    options: AgentHostOptions,
    { turnPorts, ...limits }: LimitPorts & { readonly turnPorts: TurnPorts },
  ): HostRoutes {
    const { knownHosts, authenticator } = options;
    const { refused } = this;
    const isOpen = () => this.#agents.some((agent) => agent.isOpen);
    return new HostRoutes({
      ...options,
      knownHosts: knownHosts && { ...knownHosts, isOpen, refused },
      mounts: this.#mounts,
      recorded: this.#recorded,
      authenticators: authenticator === undefined ? authenticatorsOf(this.#agents) : [authenticator],
      readiness: { report: async () => (await this.#readiness.get()).report() },
      metrics: this.#metrics,
      start: this.#start,
      loadRates: this.#ratesOf(options),
      groupOf: this.#groupOf,
      limits,
    });
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

  /** Counts turns and their tokens. */
  #countingPorts(options: AgentHostOptions): TurnPorts {
    const { tokenBudget: budget, storage, clock, logger } = options;
    const limits = new LoadedOnDemand(async () => {
      const { tokenLimits } = await import('./limits/token-limits.js');
      const { rateCounters: counters } = storage;
      return tokenLimits({ budget, metrics: () => this.#metrics?.tokens, counters, clock, logger });
    });
    const tokens: TurnPorts['tokens'] = async (turn) => (await limits.get())(turn);
    if (!isMeasured(options)) return { tokens };
    return { tokens, meter: (time) => this.#metrics?.turns.record(time) };
  }

  /** Loads the rates of the host and its agents once; `undefined` if there are none. */
  #ratesOf({ rateLimit, storage, clock, logger }: AgentHostOptions): LoadRates | undefined {
    const hasRates =
      rateLimit !== undefined || this.#agents.some(({ ratePerPrincipal }) => ratePerPrincipal !== undefined);
    if (!hasRates) return undefined;
    const rates = new LoadedOnDemand(async () => {
      const { RateLimits } = await import('./limits/rate-limits.js');
      return new RateLimits({
        options: rateLimit,
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
        this.#start.isStarted = true;
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
    this.#isDraining = true;
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

  #pageOf(mount: AgentMount, base: string): Promise<ExchangeResponse> {
    const partial = this.#mounts.length > 1;
    return agentsPage({ mounts: [mount], base, documented: this.#routes.serves('/docs'), partial });
  }

  #makeSender(
    options: AgentHostOptions,
    { node, tracing }: { readonly node: EngineNode; readonly tracing: Tracing | undefined },
  ): HostSender | undefined {
    const { push, logger } = options;
    const pushing = new Map(this.#agents.flatMap((one) => (one.isPushing ? [[one.id, one.notifications]] : [])));
    if (push === undefined || pushing.size === 0) return undefined;
    const load = async () => {
      const { leaseMs } = node.lease;
      return (await import('./push-delivery.js')).senderOf(push, pushing, { ...options, leaseMs, tracing });
    };
    return new HostSender({ load, logger });
  }

  #measure(
    options: AgentHostOptions,
    { streamPlaces, node }: { readonly streamPlaces: KeyedPlaces; readonly node: EngineNode },
  ): HostMetrics | undefined {
    if (!isMeasured(options)) return undefined;
    const { metrics, process, extensions, storage, clock } = options;
    const meters = extensions.flatMap(({ meter }) => meter ?? []);
    const sender = this.#sender;
    const sources = {
      runningTurns: () => this.#agents.map(({ id, runningTurns }) => [id, runningTurns] as const),
      openStreams: () => streamPlaces.total,
      waiting: async () => (await this.#readiness.get()).load(),
      replica: storage.shared ? () => ({ ...node.figures, lagMs: node.lagMs }) : undefined,
      cache: extensions.find(({ cacheFigures }) => cacheFigures !== undefined)?.cacheFigures,
      process,
      push: sender && (() => sender.figures),
    };
    return new HostMetrics({ options: metrics ?? { endpoint: false }, meters, sources, storage, clock });
  }
}

/** A path below the base url; "" while the host has no address. */
function urlBelow(base: string, path: string): string {
  return base === '' ? '' : `${base}${path}`;
}

/** The authenticators of agents, each once. */
function authenticatorsOf(agents: readonly ServedAgent[]): readonly Authenticator[] {
  return [...new Set(agents.flatMap(({ authenticator }) => authenticator ?? []))];
}

/**
 * The addresses that limits count for. A client on this machine has none: it may be a proxy that is not in
 * `trustProxy`, and all its clients would share one limit. A client that a trusted proxy tells always has one.
 */
function limitedAddresses(
  groupOf: ClientGroups,
  isTrustedProxy: TrustedProxies | undefined,
): (request: ExchangeRequest) => string | undefined {
  const ofPeer = keptResults((peer) => {
    const group = groupOf({ peer, header: () => undefined });
    return group === undefined || isLoopbackGroup(group) ? undefined : addressKeyOf(group);
  }, MOST_PEERS);
  return (request) => {
    const { peer } = request;
    if (peer === undefined) return undefined;
    if (isTrustedProxy?.(peer) !== true) return ofPeer(peer);
    const group = groupOf(request);
    return group === undefined ? undefined : addressKeyOf(group);
  };
}

/** True if the host or one of its extensions reads metrics. */
function isMeasured({ metrics, extensions }: Pick<AgentHostOptions, 'metrics' | 'extensions'>): boolean {
  return metrics !== undefined || extensions.some(({ meter }) => meter !== undefined);
}
