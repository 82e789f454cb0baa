import { BodyBudget, DEFAULT_BODY_MEMORY } from '../bindings/http/body-budget.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import { accepted } from '../bindings/http/media-type.js';
import type { ErrorCode } from '../errors/a2a-error.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard } from '../model/agent-card.js';
import { EngineNode } from '../server/execution/engine-node.js';
import { type RetentionPolicy, RetentionSweeper } from '../server/retention-sweeper.js';
import type { ServedTasks } from '../server/served-tasks.js';
import type { Logger } from '../telemetry/logger.js';
import type { ProcessFigures } from '../telemetry/server-figures.js';
import type { Tally } from '../telemetry/tally.js';
import { AgentMount } from './agent-mount.js';
import type { HostedBaseServer } from './base-server/hosted-base-server.js';
import { errorAnswer } from './json-answer.js';
import { varying } from './middleware/answer-headers.js';
import { type Forwarding, withForwardedCaching } from './middleware/forwarded-caching.js';
import { otherMethod, READING } from './middleware/method-filter.js';
import { countBrokenStream } from './middleware/observed-exchange.js';
import { type Wrapping, wrapped } from './middleware/wrapped-exchange.js';
import { healthEndpoints } from './observability/health-endpoints.js';
import { HostMetrics, type MetricsOptions } from './observability/host-metrics.js';
import { Readiness, type ReadinessCheck } from './observability/readiness.js';
import type { descriptionOnDemand } from './openapi/description-on-demand.js';
import { type AgentOptions, DEFAULT_VERSIONS } from './options/agent-options.js';
import { type HostedAgents, hostedAgent } from './options/agents-by-path.js';
import { originListing } from './origin-listing.js';
import { prefixRouter } from './prefix-router.js';
import { type AgentPorts, ServedAgent, type TaskOwner } from './served-agent.js';

const NOTHING_HERE = errorAnswer({
  status: 404,
  message: 'No agent is served here. GET / lists the agents of this server',
});

/** The agents of an origin, and what they are run with. */
export interface AgentHostOptions extends AgentPorts, Wrapping {
  readonly agents: HostedAgents;
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request?: ExchangeRequest) => string;
  /** The rule by which proxies tell that url, if they may. */
  readonly forwarding?: Forwarding | undefined;
  readonly cardMaxAgeSeconds: number;
  readonly bodyMemory?: number | undefined;
  readonly retention?: Partial<RetentionPolicy>;
  /** Whether probes are answered. */
  readonly health: boolean;
  /** What readiness depends on beside agents and storage. */
  readonly checks?: readonly ReadinessCheck[];
  /** How the server describes itself; absent: not at all. */
  readonly description?: typeof descriptionOnDemand | undefined;
  /** What is measured; absent: nothing. */
  readonly metrics?: MetricsOptions | undefined;
  /** The figures of the process, where there is one. */
  readonly process?: ProcessFigures | undefined;
  /** The base-server interface, where it is served. */
  readonly baseServer?: HostedBaseServer | undefined;
}

/** Several agents on one origin as one exchange: each under its path, a list of them at the root, JSON for all else. */
export class AgentHost {
  readonly exchange: Exchange;
  readonly #agents: readonly ServedAgent[];
  readonly #mounts: readonly AgentMount[];
  readonly #baseUrl: (request?: ExchangeRequest) => string;
  readonly #sweeper: RetentionSweeper;
  readonly #logger: Logger;
  readonly #route: (path: string) => AgentMount | undefined;
  readonly #readiness: Readiness;
  readonly #documented: boolean;
  readonly #metrics: HostMetrics | undefined;
  #starting: Promise<void> | undefined;
  #started = false;

  constructor(options: AgentHostOptions) {
    const agents = new Map<AgentOptions, ServedAgent>();
    const modifiedAt = options.clock.now();
    const streamBroke = (code: ErrorCode) => this.#metrics && countBrokenStream(this.#metrics.requests, code);
    const bodies = new BodyBudget({ maxBytes: options.bodyMemory ?? DEFAULT_BODY_MEMORY, clock: options.clock });
    const node = new EngineNode(options);
    const ports = { ...options, bodies, openStreams: { count: 0 }, node, streamBroke };
    this.#mounts = Object.keys(options.agents).map((path) => {
      const { options: agentOptions, home, versions = DEFAULT_VERSIONS } = hostedAgent(options.agents, path);
      const agent = agents.get(agentOptions) ?? new ServedAgent({ path: home, options: agentOptions, ports });
      agents.set(agentOptions, agent);
      return new AgentMount({ agent, path, versions, modifiedAt, cardMaxAgeSeconds: options.cardMaxAgeSeconds });
    });
    this.#agents = [...agents.values()];
    this.#baseUrl = options.baseUrl;
    this.#sweeper = new RetentionSweeper({ ...options, ...(options.retention && { policy: options.retention }) });
    this.#logger = options.logger;
    this.#route = prefixRouter(this.#mounts);
    const checks = [...(options.checks ?? []), ...(options.baseServer?.checks ?? [])];
    this.#readiness = new Readiness({ ...options, checks, started: () => this.start() });
    this.#metrics = this.#measure(options, ports.openStreams);
    const wrap = (exchange: Exchange) => wrapped(exchange, options, this.#metrics?.requests);
    const answer: Exchange = (request) => this.#answer(request);
    const others = wrap((request) => this.#onceStarted(answer, request));
    const documents = this.#documents(options);
    this.#documented = documents.size > 0;
    const metrics = this.#metrics?.endpoint;
    const endpoints = new Map([
      ...(options.health ? healthEndpoints(this.#readiness) : []),
      ...(metrics ? [['/metrics', metrics] as const] : []),
      ...Array.from(documents, ([path, exchange]) => [path, wrap(exchange)] as const),
      ...(options.baseServer ? this.#baseServer(options, options.baseServer) : []),
    ]);
    const exchange: Exchange = (request) => (endpoints.get(request.path) ?? others)(request);
    this.exchange = options.forwarding === undefined ? exchange : withForwardedCaching(exchange, options.forwarding);
  }

  /** True if an agent asks nobody for a credential. */
  get isOpen(): boolean {
    return this.#agents.some(({ isOpen }) => isOpen);
  }

  /** The cards as they stand now, by path. */
  get cards(): Readonly<Record<string, AgentCard>> {
    const base = this.#baseUrl();
    return Object.fromEntries(this.#mounts.map((mount) => [mount.path, mount.card(base)]));
  }

  /**
   * The tasks of the agent under a path, for the application's own code.
   * @throws OptionsError if no agent is there, or it has a handler of its own.
   */
  tasks(path: string, owner: TaskOwner = {}): ServedTasks {
    const mount = this.#mounts.find((one) => one.path === path);
    if (mount === undefined) throw new OptionsError('tasks', [`no agent is served at "${path}"`]);
    return mount.agent.tasks(owner);
  }

  /** Takes over what an earlier process left behind; the first request waits for it. One that fails may be tried again. */
  start(): Promise<void> {
    this.#starting ??= Promise.all(this.#agents.map((agent) => agent.start())).then(
      () => {
        this.#started = true;
        this.#sweeper.start();
      },
      (error: unknown) => {
        this.#starting = undefined;
        throw error;
      },
    );
    return this.#starting;
  }

  /** Tells whoever asks that no more requests should be sent here. */
  drain(): void {
    this.#readiness.drain();
  }

  /** Lets running turns end for a grace; the storage stays open. */
  async close(graceMs: number): Promise<void> {
    await this.#sweeper.stop();
    await Promise.all(this.#agents.map((agent) => agent.close(graceMs)));
    this.#metrics?.close();
  }

  #measure(
    { metrics, process, baseServer, storage, clock, logger }: AgentHostOptions,
    openStreams: Tally,
  ): HostMetrics | undefined {
    if (metrics === undefined) return undefined;
    const sources = {
      runningTurns: () => this.#agents.map(({ id, runningTurns }) => [id, runningTurns] as const),
      openStreams,
      waiting: () => this.#readiness.waiting(),
      cache: baseServer && (() => baseServer.cacheFigures()),
      process,
    };
    return new HostMetrics({ options: metrics, sources, storage, clock, logger });
  }

  #documents({ description, health, metrics, baseServer, baseUrl }: AgentHostOptions): ReadonlyMap<string, Exchange> {
    const measured = metrics !== undefined && metrics.endpoint !== false;
    return description?.({ mounts: this.#mounts, baseServer, health, metrics: measured, baseUrl }) ?? new Map();
  }

  #baseServer(options: AgentHostOptions, baseServer: HostedBaseServer): ReadonlyMap<string, Exchange> {
    const mount = this.#mounts.find(({ path }) => path === baseServer.path);
    if (mount === undefined) return new Map();
    const endpoints = baseServer.endpoints({
      ...options,
      mount,
      metrics: this.#metrics?.endpoint,
      readiness: () => this.#readiness.report(),
      onceStarted: (exchange) => (request) => this.#onceStarted(exchange, request),
    });
    // It has pages let in, and types told, in a way of its own.
    const { cors: _, nosniff: __, ...wrapping } = options;
    return new Map(
      Array.from(endpoints, ([path, exchange]) => [path, wrapped(exchange, wrapping, this.#metrics?.requests)]),
    );
  }

  #onceStarted(exchange: Exchange, request: ExchangeRequest): Promise<ExchangeResponse> {
    return this.#started ? exchange(request) : this.#startFirst(exchange, request);
  }

  async #startFirst(exchange: Exchange, request: ExchangeRequest): Promise<ExchangeResponse> {
    try {
      await this.start();
    } catch (error) {
      this.#logger.error('The agents could not be started', { error });
      return errorAnswer({ status: 503, message: 'The agents cannot be reached now', headers: { 'retry-after': '5' } });
    }
    return exchange(request);
  }

  #answer(request: ExchangeRequest): Promise<ExchangeResponse> {
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
  }

  async #origin(request: ExchangeRequest, base: string): Promise<ExchangeResponse> {
    const { method } = request;
    if (prefersPage(request)) return this.#page(this.#mounts, base);
    if (method === 'GET' || method === 'HEAD') return varying(originListing(this.#mounts, base), 'Accept');
    const methods = this.#route('/') === undefined ? READING : [...READING, 'POST'];
    return otherMethod(method, { methods, message: 'This method means nothing here' });
  }

  async #page(mounts: readonly AgentMount[], base: string): Promise<ExchangeResponse> {
    const partial = mounts.length < this.#mounts.length;
    const { landingAnswer } = await import('./landing-page.js');
    return varying(await landingAnswer({ mounts, base, documented: this.#documented, partial }), 'Accept');
  }
}

/** True if a request comes from a browser: it reads, and prefers a page to JSON. */
function prefersPage(request: ExchangeRequest): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  return accepted(request.header('accept'), ['application/json', 'text/html']) === 'text/html';
}
