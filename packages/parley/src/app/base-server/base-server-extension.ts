import type { AnswerCache } from '../../cache/answer-cache.js';
import type { ReadThrough } from '../../cache/read-through.js';
import { CacheError } from '../../errors/cache-error.js';
import { ignoreRejection } from '../../runtime/settled.js';
import type { AgentMount } from '../agent-mount.js';
import type { HostEndpoint, HostExtension, HostView } from '../host-extension.js';
import type { MiddlewareName } from '../middleware/request-way.js';
import type { ReadinessCheck } from '../observability/readiness.js';
import { type BaseServerOptions, ENDPOINT_PATHS, type EndpointPath } from './base-server-options.js';

/** The settings of a base server. */
export interface BaseServerExtensionOptions {
  readonly options: BaseServerOptions;
  /** The path of its agent. */
  readonly path: string;
  readonly cache: AnswerCache;
  /** The answers in the cache. */
  readonly texts: ReadThrough;
}

/** The endpoints that clients append to the address in the card. */
const BELOW_THE_AGENT = ['/discover', '/communicate', '/delegate'] as const;

/** A base server has CORS, security headers and error answers of its own, and starts the agents only for calls. */
const WITHOUT: readonly MiddlewareName[] = ['nosniff', 'cors', 'answered', 'start'];

/** The base-server interface around one agent of a host. */
export function baseServerExtension(setup: BaseServerExtensionOptions): HostExtension {
  const { path, cache, texts } = setup;
  const mountIn = ({ mounts }: HostView) => mounts.find((mount) => mount.path === path) as AgentMount;
  return {
    checks: cache.link === undefined ? [] : [cacheCheck(cache)],
    cacheFigures: () => texts.figures,
    endpoints: (host) => endpointsOf(setup, host, mountIn(host)),
    describe: async (host) => {
      const { describedBaseServer } = await import('./described-base-server.js');
      return describedBaseServer(mountIn(host).bindingContext(), host.metrics !== undefined);
    },
  };
}

/** The endpoints. Their code is loaded at once, but apart: a server without a base server does not load it. */
function endpointsOf(
  { options, cache, texts }: BaseServerExtensionOptions,
  host: HostView,
  mount: AgentMount,
): readonly HostEndpoint[] {
  const load = async () => {
    const { BaseServer } = await import('./base-server.js');
    return new BaseServer({
      ...host,
      card: (base) => mount.card(base),
      endpoint: mount.bindingContext(),
      readiness: () => host.readiness.report(),
      cache,
      texts,
      cors: options.cors,
      cacheChanges: options.cacheChanges ?? false,
      instance: host.ids.random(),
    });
  };
  const loading = load();
  ignoreRejection(loading);
  const at = (path: string, endpoint: EndpointPath): HostEndpoint => ({
    path,
    exchange: async (request) => (await loading).endpoints[endpoint](request),
    without: WITHOUT,
  });
  return [
    ...ENDPOINT_PATHS.map((path) => at(path, path)),
    ...BELOW_THE_AGENT.map((path) => at(`${mount.jsonRpcPath}${path}`, path)),
  ];
}

/** Readiness shows a cache that is out of reach. The server stays ready, because it answers without the cache too. */
function cacheCheck(cache: AnswerCache): ReadinessCheck {
  const check = async () => {
    if (cache.link?.status === 'disconnected') throw new CacheError('The cache cannot be reached');
  };
  return { name: 'cache', required: false, check };
}
