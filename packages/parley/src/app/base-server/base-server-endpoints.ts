import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import type { Cache } from '../../cache/cache.js';
import type { ReadThrough } from '../../cache/read-through.js';
import { CacheError } from '../../errors/cache-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ProcessFigures } from '../../telemetry/server-figures.js';
import type { AgentMount } from '../agent-mount.js';
import type { Compression } from '../compression.js';
import type { ReadinessCheck, ReadinessReport } from '../readiness.js';
import { BaseServer } from './base-server.js';
import type { BaseServerOptions } from './base-server-options.js';

/** What callers find below the address that the card gives, too: many put the name of an endpoint behind it. */
const BELOW_THE_AGENT = ['/discover', '/communicate', '/delegate'] as const;

/** A base server as it is asked for. */
export interface BaseServerSetup {
  readonly options: BaseServerOptions;
  /** The path of the agent. */
  readonly path: string;
  readonly cache: Cache;
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
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** The endpoints of a base server, by path. */
export function baseServerEndpoints(
  { options, cache, texts }: BaseServerSetup,
  { mount, ids, process, compression, ...surroundings }: BaseServerSurroundings,
): ReadonlyMap<string, Exchange> {
  const { endpoints } = new BaseServer({
    ...surroundings,
    card: (base) => mount.card(base),
    endpoint: mount.endpoint(),
    cache,
    texts,
    cors: options.cors ?? '*',
    instance: ids.random(),
    process,
    compression: compression !== undefined,
  });
  const below = BELOW_THE_AGENT.map((path) => [`${mount.jsonRpcPath}${path}`, endpoints[path]] as const);
  return new Map([...Object.entries(endpoints), ...below]);
}

/** A cache that cannot be reached is shown, and keeps nobody from answering. */
export function cacheCheck(setup: BaseServerSetup | undefined): readonly ReadinessCheck[] {
  const cache = setup?.cache;
  if (cache?.link === undefined) return [];
  const check = async () => {
    if (cache.link?.status === 'disconnected') throw new CacheError('The cache cannot be reached');
  };
  return [{ name: 'cache', required: false, check }];
}
