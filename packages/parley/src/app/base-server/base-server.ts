import type { BindingContext } from '../../bindings/http/binding-context.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { AnswerCache } from '../../cache/answer-cache.js';
import type { ReadThrough } from '../../cache/read-through.js';
import type { AgentCard } from '../../model/agent-card.js';
import type { Clock } from '../../runtime/clock.js';
import { fingerprint } from '../../runtime/sha256.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ProcessFigures } from '../../telemetry/server-figures.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';
import { answerAlways } from '../middleware/always-answered.js';
import type { Forwarding } from '../middleware/forwarded-caching.js';
import { READ_METHODS, taking } from '../middleware/method-filter.js';
import type { ReadinessReport } from '../observability/readiness.js';
import { baseServerCalls } from './base-server-calls.js';
import { baseServerCard } from './base-server-card.js';
import { BaseServerFigures } from './base-server-figures.js';
import { BaseServerHealth } from './base-server-health.js';
import { ENDPOINTS, type EndpointPath } from './base-server-options.js';
import { invalidateCache, refuseCacheChange, warmCache } from './cache-endpoints.js';

/** The agent behind a base server, and its ports. */
interface BaseServerExchangeOptions {
  /** The card under a base url. */
  readonly card: (base: string) => AgentCard;
  readonly endpoint: BindingContext;
  /** The base url to tell a client. */
  readonly baseUrl: (request: ExchangeRequest) => string;
  /** Holds back the requests of an exchange until the agent has started. */
  readonly onceStarted: (exchange: Exchange) => Exchange;
  readonly readiness: () => Promise<ReadinessReport>;
  readonly cache: AnswerCache;
  readonly texts: ReadThrough;
  /** True if callers may change the cache. */
  readonly cacheChanges: boolean;
  /** The rule by which proxies tell the base url, if they may. */
  readonly forwarding?: Forwarding | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An id that differs between processes. */
  readonly instance: string;
  readonly process: ProcessFigures | undefined;
  /** Answers `/metrics`; absent if nothing is measured. */
  readonly metrics: Exchange | undefined;
  readonly isCompressed: boolean;
}

const CACHE_IS_FIXED = errorAnswer({
  status: 403,
  message: 'Cache changes are not enabled on this server. baseServer.cacheChanges enables them',
});
/** More base urls than this come from forged forwarded headers. */
const MOST_BASES = 10;
const NO_STORE = { 'cache-control': 'no-store' };

/** The base-server interface around one agent: endpoints with names and members of their own, in one version. */
export class BaseServer {
  /** The endpoints by path. */
  readonly endpoints: Readonly<Record<EndpointPath, Exchange>>;
  readonly #options: BaseServerExchangeOptions;
  readonly #figures: BaseServerFigures;
  readonly #health: BaseServerHealth;
  #fingerprint: Promise<string> | undefined;
  /** The base urls whose cards this process has put into the cache since the time to live began. */
  readonly #bases = new Set<string>();
  #basesUntil = 0;

  constructor(options: BaseServerExchangeOptions) {
    this.#options = options;
    this.#figures = new BaseServerFigures(options);
    const { name: agentName } = options.card('');
    this.#health = new BaseServerHealth({ ...options, agentName, figures: this.#figures });
    this.endpoints = this.#table();
  }

  #table(): Readonly<Record<EndpointPath, Exchange>> {
    const { endpoint, onceStarted, metrics = answerNoMetrics, texts, cacheChanges } = this.#options;
    const calls = baseServerCalls(endpoint);
    const figures = this.#figures;
    const timestamp = () => figures.timestamp;
    const get = (exchange: Exchange) => this.#taking(READ_METHODS, exchange);
    const post = (exchange: Exchange) => this.#taking(['POST'], exchange);
    const told = (value: (request: ExchangeRequest) => object) =>
      get(async (request) => jsonAnswer({ status: 200, value: value(request), headers: NO_STORE }));
    const changesCache = (exchange: Exchange) =>
      post(async (request) => {
        if (!cacheChanges) return CACHE_IS_FIXED;
        return refuseCacheChange(request, endpoint) ?? exchange(request);
      });
    const discover = get((request) => this.#discover(request));
    return {
      '/discover': discover,
      '/agent.json': discover,
      '/communicate': post(onceStarted(calls['/communicate'])),
      '/delegate': post(onceStarted(calls['/delegate'])),
      '/cache/stats': told(() => figures.cacheStats()),
      '/cache/invalidate': changesCache((request) => invalidateCache(request, { texts, timestamp })),
      '/cache/warmup': changesCache((request) => warmCache(() => this.#warm(request), timestamp)),
      '/health': get(() => this.#health.answer()),
      '/metrics': get(metrics),
      '/info': told((request) => this.#info(request)),
    };
  }

  /** The same exchange for these methods only. An error inside becomes an answer. */
  #taking(methods: readonly string[], exchange: Exchange): Exchange {
    return taking(
      { methods, message: `This takes ${methods.join(', ')}` },
      answerAlways(exchange, this.#options.logger),
    );
  }

  async #discover(request: ExchangeRequest): Promise<ExchangeResponse> {
    const base = this.#options.baseUrl(request);
    const body = await this.#discovered(base);
    return { status: 200, headers: { 'content-type': 'application/json' }, body, verbatim: true };
  }

  /**
   * True if the cache may have the card under a base url. A client that can choose the url, or only its port, must not
   * fill the cache.
   */
  #keepsCard(base: string): boolean {
    const { forwarding, clock, texts } = this.#options;
    if (forwarding?.listed === false) return false;
    if (this.#bases.has(base)) return true;
    const now = clock.monotonic();
    if (now >= this.#basesUntil) {
      this.#bases.clear();
      this.#basesUntil = now + texts.ttlMs;
    }
    if (this.#bases.size >= MOST_BASES) return false;
    this.#bases.add(base);
    return true;
  }

  async #discovered(base: string): Promise<string> {
    if (!this.#keepsCard(base)) return this.#discoverText(base);
    return this.#options.texts.text(await this.#discoverKey(base), () => this.#discoverText(base));
  }

  async #warm(request: ExchangeRequest): Promise<number> {
    const base = this.#options.baseUrl(request);
    if (!this.#keepsCard(base)) return this.#health.warm();
    const [health] = await Promise.all([
      this.#health.warm(),
      this.#options.texts.keep(await this.#discoverKey(base), this.#discoverText(base)),
    ]);
    return 1 + health;
  }

  /** A process with another card must not find the one of its predecessor. */
  async #discoverKey(base: string): Promise<string> {
    this.#fingerprint ??= fingerprint(this.#discoverText(''), 8);
    return `discover:${base}:${await this.#fingerprint}`;
  }

  #discoverText(base: string): string {
    return JSON.stringify(baseServerCard(this.#options.card(base), base));
  }

  #info(request: ExchangeRequest): object {
    return {
      server: 'BaseA2AServer',
      version: '2.0.0',
      agent: this.#options.card('').name,
      port: portOf(request.local ?? this.#options.baseUrl(request)),
      protocol: 'A2A/1.0',
      features: {
        redis_cache: this.#options.cache.link !== undefined,
        compression: this.#options.isCompressed,
        cache_warmup: this.#options.cacheChanges,
      },
      endpoints: ENDPOINTS,
      uptime: this.#figures.uptime,
      timestamp: this.#figures.timestamp,
    };
  }
}

async function answerNoMetrics(): Promise<ExchangeResponse> {
  return errorAnswer({ status: 404, message: 'Nothing is measured here' });
}

function portOf(url: string): number | null {
  const { port, protocol } = URL.parse(url) ?? { port: '', protocol: '' };
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : protocol === 'http:' ? 80 : null;
}
