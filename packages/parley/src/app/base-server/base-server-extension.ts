import type { RefusedRequest } from '../../bindings/http/answer-call.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import { refusedJsonRpc } from '../../bindings/jsonrpc/jsonrpc-binding.js';
import type { AnswerCache } from '../../cache/answer-cache.js';
import type { ReadThrough } from '../../cache/read-through.js';
import { CacheError } from '../../errors/cache-error.js';
import type { Clock } from '../../runtime/clock.js';
import { ignoreRejection } from '../../runtime/settled.js';
import type { AgentMount } from '../agent-mount.js';
import type { HostEndpoint, HostExtension, HostView } from '../host-extension.js';
import { refusedPlain } from '../json-answer.js';
import type { Access } from '../middleware/gate.js';
import { corsOnDemand } from '../middleware/on-demand.js';
import type { MiddlewareName } from '../middleware/request-way.js';
import type { ReadinessCheck } from '../observability/readiness.js';
import { baseServerErrors } from './base-server-errors.js';
import { type BaseServerOptions, ENDPOINT_PATHS, type EndpointPath } from './base-server-options.js';

/** The settings of a base server. */
interface BaseServerExtensionOptions {
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
      cacheChanges: options.cacheChanges ?? false,
      instance: host.ids.random(),
    });
  };
  const loading = load();
  ignoreRejection(loading);
  const errors = baseServerErrors(host.clock);
  const refuse = (refused: RefusedRequest) => refusedJsonRpc(refused, errors);
  const accesses = accessesOf(mount, host, refuse);
  const around = (endpoint: EndpointPath) => (exchange: Exchange) => {
    // Without authentication no page of another origin may change the cache.
    const isOwn = accesses[endpoint] === 'open' && CHANGES.includes(endpoint);
    const { cors } = options;
    return withBaseServerHeaders(cors === undefined || isOwn ? exchange : corsOnDemand(exchange, cors), host.clock);
  };
  const at = (path: string, endpoint: EndpointPath): HostEndpoint => ({
    path,
    exchange: async (request) => (await loading).endpoints[endpoint](request),
    access: accesses[endpoint],
    refuse: CALLS.includes(endpoint) ? refuse : undefined,
    around: around(endpoint),
    without: WITHOUT,
  });
  return [
    ...ENDPOINT_PATHS.map((path) => at(path, path)),
    ...BELOW_THE_AGENT.map((path) => at(`${mount.jsonRpcPath}${path}`, path)),
  ];
}

/** The endpoints that take JSON-RPC. */
const CALLS: readonly EndpointPath[] = ['/communicate', '/delegate'];

/** The endpoints that change the cache. */
const CHANGES: readonly EndpointPath[] = ['/cache/invalidate', '/cache/warmup'];

/** The callers of each endpoint. The agent knows its own users, so its rule holds here too. */
function accessesOf(
  mount: AgentMount,
  host: HostView,
  refuse: Access['refuse'],
): Readonly<Record<EndpointPath, HostEndpoint['access']>> {
  const { authenticator } = mount.agent;
  const plain = authenticator ? { authenticator, refuse: refusedPlain } : 'open';
  const call = authenticator ? { authenticator, refuse } : 'open';
  const change = authenticator ? { authenticator, required: true, refuse: refusedPlain } : 'open';
  return {
    // The card, which tells how to authenticate, and a probe.
    '/discover': 'open',
    '/agent.json': 'open',
    '/health': 'open',
    '/communicate': call,
    '/delegate': call,
    '/cache/stats': plain,
    '/cache/invalidate': change,
    '/cache/warmup': change,
    '/metrics': host.metricsAccess ?? plain,
    '/info': plain,
  };
}

const HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'x-a2a-protocol': '1.0',
  'x-powered-by': 'BaseA2AServer/2.0',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-xss-protection': '1; mode=block',
});

/** The exchange with the headers of a base server. The response time ends when the head of the answer is known. */
function withBaseServerHeaders(exchange: Exchange, clock: Clock): Exchange {
  return async (request) => {
    const start = clock.monotonic();
    const answer = await exchange(request);
    const time = `${Math.round(clock.monotonic() - start)}ms`;
    return { ...answer, headers: { ...answer.headers, ...HEADERS, 'x-response-time': time } };
  };
}

/** Readiness shows a cache that is out of reach. The server stays ready, because it answers without the cache too. */
function cacheCheck(cache: AnswerCache): ReadinessCheck {
  const check = async () => {
    if (cache.link?.status === 'disconnected') throw new CacheError('The cache cannot be reached');
  };
  return { name: 'cache', required: false, check };
}
