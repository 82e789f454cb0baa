import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import type { AnswerCache } from '../../cache/answer-cache.js';
import type { ReadThrough } from '../../cache/read-through.js';
import { CacheError } from '../../errors/cache-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import { ignoreRejection } from '../../runtime/settled.js';
import type { Logger } from '../../telemetry/logger.js';
import type { CacheFigures, ProcessFigures } from '../../telemetry/server-figures.js';
import type { AgentMount } from '../agent-mount.js';
import type { Compression } from '../middleware/compression.js';
import type { Forwarding } from '../middleware/forwarded-caching.js';
import type { ReadinessCheck, ReadinessReport } from '../observability/readiness.js';
import type { BaseServerOptions } from './base-server-options.js';
import { ENDPOINT_PATHS, type EndpointPath } from './endpoint-paths.js';

/** What callers find below the address that the card gives, too: many put the name of an endpoint behind it. */
const BELOW_THE_AGENT = ['/discover', '/communicate', '/delegate'] as const;

/** A base server as it is asked for. */
export interface BaseServerSetup {
  readonly options: BaseServerOptions;
  /** The path of the agent. */
  readonly path: string;
  readonly cache: AnswerCache;
  /** What is kept in it. */
  readonly texts: ReadThrough;
}

/** What a host of agents gives to a base server. */
export interface BaseServerSurroundings {
  readonly mount: AgentMount;
  readonly baseUrl: (request: ExchangeRequest) => string;
  readonly onceStarted: (exchange: Exchange) => Exchange;
  readonly readiness: () => Promise<ReadinessReport>;
  readonly metrics: Exchange | undefined;
  readonly process?: ProcessFigures | undefined;
  readonly compression?: Compression | undefined;
  readonly forwarding?: Forwarding | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** A base server for a host of agents, which need not know how it is made. */
export interface HostedBaseServer {
  /** The path of the agent. */
  readonly path: string;
  /** What readiness shows of it. */
  readonly checks: readonly ReadinessCheck[];
  /** How often its cache had what it was asked for. */
  cacheFigures(): CacheFigures;
  /** Its endpoints, by path. */
  endpoints(engineContext: BaseServerSurroundings): ReadonlyMap<string, Exchange>;
}

/** The base server that is asked for. */
export function hostedBaseServer(setup: BaseServerSetup): HostedBaseServer {
  const { path, cache, texts } = setup;
  return {
    path,
    checks: cache.link === undefined ? [] : [cacheCheck(cache)],
    cacheFigures: () => texts.figures,
    endpoints: (engineContext) => endpointsOf(setup, engineContext),
  };
}

/** The endpoints, whose code is loaded at once but apart: a server without this option does not carry it. */
function endpointsOf(
  { options, cache, texts }: BaseServerSetup,
  { mount, ids, process, compression, ...engineContext }: BaseServerSurroundings,
): ReadonlyMap<string, Exchange> {
  const load = async () => {
    const { BaseServer } = await import('./base-server.js');
    return new BaseServer({
      ...engineContext,
      card: (base) => mount.card(base),
      endpoint: mount.endpoint(),
      cache,
      texts,
      cors: options.cors,
      cacheChanges: options.cacheChanges ?? false,
      instance: ids.random(),
      process,
      compression: compression !== undefined,
    });
  };
  const loading = load();
  ignoreRejection(loading);
  const at = (path: EndpointPath): Exchange => {
    return async (request) => (await loading).endpoints[path](request);
  };
  const below = BELOW_THE_AGENT.map((path) => [`${mount.jsonRpcPath}${path}`, at(path)] as const);
  return new Map([...ENDPOINT_PATHS.map((path) => [path, at(path)] as const), ...below]);
}

/** A cache that cannot be reached is shown, and keeps nobody from answering. */
function cacheCheck(cache: AnswerCache): ReadinessCheck {
  const check = async () => {
    if (cache.link?.status === 'disconnected') throw new CacheError('The cache cannot be reached');
  };
  return { name: 'cache', required: false, check };
}
