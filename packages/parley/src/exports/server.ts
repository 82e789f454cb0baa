import { toFetch as fetchOf } from '../adapters/fetch/to-fetch.js';
import { webCompressor } from '../adapters/fetch/web-compressor.js';
import { AgentHost } from '../app/agent-host.js';
import { baseUrlOf, forwardingOf } from '../app/base-url.js';
import { consoleEndpoint } from '../app/console/console-endpoint.js';
import type { ConsoleOptions } from '../app/console/console-extension.js';
import type { HostExtension } from '../app/host-extension.js';
import { onDemand } from '../app/middleware/on-demand.js';
import { OpenStreams } from '../app/middleware/open-streams.js';
import type { AgentOptions } from '../app/options/agent-options.js';
import { checkPlacedAgent, type HostOptions, hostSchemas, type MountOptions } from '../app/options/host-options.js';
import type { TaskOwner } from '../app/served-agent.js';
import type { User } from '../auth/user.js';
import type { Exchange } from '../bindings/http/exchange.js';
import { IN_PROCESS, type InProcessAgent } from '../bindings/in-process/in-process-agent.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard } from '../model/agent-card.js';
import { refuseArgument } from '../options/refuse-argument.js';
import type { ServedDeliveries } from '../push/served-deliveries.js';
import type { ServedTasks } from '../server/served-tasks.js';
import { type Logger, silentLogger } from '../telemetry/logger.js';
import type { ReachedLimit } from '../telemetry/reached-limit.js';
import { type HostSetup, hostSetup } from './host-setup.js';
import { checkPlatform } from './platform.js';
import { systemClock } from './runtime.js';

export type { AgentCardOptions, AgentSkillOptions } from '../agent-card/agent-card-options.js';
export { IDEMPOTENT_SEND_EXTENSION, STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
export type { CardJwk, CardSigningOptions } from '../agent-card/signatures/card-signing-options.js';
export type { ConcurrencyLimits } from '../app/limits/concurrency.js';
export type { RateLimitOptions } from '../app/limits/rate-limit-options.js';
export type { Rate, RateDecision, RateLimiter } from '../app/limits/rate-limiter.js';
export type { TokenBudgetOptions } from '../app/limits/token-budget-options.js';
export type { CompressionOptions } from '../app/middleware/compression.js';
export type { CorsOptions, CorsOrigins } from '../app/middleware/cors-options.js';
export type { MetricsOptions } from '../app/observability/host-metrics.js';
export type { AgentOptions, ServedAgentOptions } from '../app/options/agent-options.js';
export type { HostOptions, MountOptions } from '../app/options/host-options.js';
export type { PushOptions } from '../app/options/push-options.js';
export type { TaskOwner } from '../app/served-agent.js';
export type { Authentication, Authenticator, Credentials } from '../auth/authenticator.js';
export type { User } from '../auth/user.js';
export type { RequestLimits } from '../bindings/http/binding-context.js';
export type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
export type { InProcessAgent } from '../bindings/in-process/in-process-agent.js';
export type { AnswerCache, CacheConnections, CacheLink } from '../cache/answer-cache.js';
export { MemoryCache, type MemoryCacheOptions } from '../cache/memory/memory-cache.js';
export type { ProtocolVersionName } from '../codec/protocol-versions.js';
export { A2AError, type ErrorCode, type ErrorDetails } from '../errors/a2a-error.js';
export { TokenBudgetError, type TokenBudgetName } from '../errors/token-budget-error.js';
export type { AgentCard } from '../model/agent-card.js';
export type { CallOutcome, InterceptedCall, Interceptor } from '../operations/interceptor.js';
export type { NotifiedWebhook } from '../push/operator-headers.js';
export type { ServedDeliveries } from '../push/served-deliveries.js';
export type { Clock } from '../runtime/clock.js';
export type { IdSource } from '../runtime/id-source.js';
export type { UncaughtErrorScope, UncaughtErrors } from '../runtime/uncaught-errors.js';
export { type Answer, type AnswerSource, agent, type PromptFunction, type PromptRunner } from '../server/agent.js';
export type { AgentExecutor } from '../server/agent-executor.js';
export {
  type Authorization,
  type AuthorizationCallback,
  AuthorizationError,
  type AuthorizationReply,
  type AuthorizationRequest,
} from '../server/authorization.js';
export { BaseRequestHandler } from '../server/base-request-handler.js';
export type { ConversationEntry, ConversationOptions } from '../server/conversation.js';
export type { DefaultRequestHandlerOptions } from '../server/default-request-handler.js';
export type { EngineLimits } from '../server/engine-limits.js';
export type { ArtifactContent, ArtifactInfo, EventQueue, StatusContent, StatusInfo } from '../server/event-queue.js';
export type { IdempotencyOptions } from '../server/idempotency.js';
export type { ServerInterceptor } from '../server/intercepted-handler.js';
export { IsolatedRequestHandler as DefaultRequestHandler } from '../server/isolated-request-handler.js';
export type { ModelStream } from '../server/model-stream.js';
export type { RequestContext } from '../server/request-context.js';
export type { RequestHandler } from '../server/request-handler.js';
export type { RetentionPolicy } from '../server/retention-sweeper.js';
export type { ServedTasks } from '../server/served-tasks.js';
export type { ServerCallContext } from '../server/server-call-context.js';
export type { TenantRule } from '../server/tenant-guarded-handler.js';
export { TurnAbortedError, type TurnAbortReason } from '../server/turn-aborted-error.js';
export { MemoryStorage, type MemoryStorageOptions } from '../store/memory/memory-storage.js';
export type { TaskStorage } from '../store/task-storage.js';
export type { TaskStore, TaskStoreFilter } from '../store/task-store.js';
export type { ArtifactEnd } from '../task/artifact-end.js';
export type { StreamItem } from '../task/stream-item.js';
export type { TaskUsage, TokenSums, TokenUsage } from '../task/token-usage.js';
export type { AuditLog, AuditPage, AuditRange, AuditRecord } from '../telemetry/audit-log.js';
export type {
  Counter,
  Histogram,
  HistogramOptions,
  InstrumentOptions,
  Meter,
  MetricAttributes,
  ObservableInstrument,
  Observation,
  Observe,
} from '../telemetry/meter.js';
export type { LimitName, ReachedLimit } from '../telemetry/reached-limit.js';
export { systemClock, systemIds } from './runtime.js';

/**
 * One agent without its own server. `url` is the public address of the agent, with the path at which a host mounts it.
 * Without `url`, Express and Fastify use the address of each request in the card, and `fetch` throws.
 */
export type AgentHandlerOptions = AgentOptions & MountOptions & HostOptions;

/** An agent that any host can mount. */
export interface AgentHandler extends InProcessAgent {
  /** The card; it shows interfaces only under a configured url. */
  readonly agentCard: AgentCard;
  /** The configured public url. */
  readonly url: string | undefined;
  /**
   * Answers requests, for hosts with the `Request` and `Response` of the web. `platform` is what the runtime passes
   * beside the request. In Deno, Bun and Hono on Node.js it has the address of the peer.
   * @throws OptionsError as soon as it is read, if no `url` is configured.
   */
  readonly fetch: (request: Request, platform?: unknown) => Promise<Response>;
  /** For your own adapter. */
  readonly exchange: Exchange;
  /** Gets the errors that adapters do not send to clients. */
  readonly logger: Logger;
  /** Counts and logs a limit by which an adapter has ended a connection. */
  readonly limitReached: (reached: ReachedLimit) => void;
  /**
   * Starts the agents, which resume the turns of an earlier process and send pending notifications. Otherwise the first
   * request starts them. Rejects if the storage fails. It may then be called again.
   */
  start(): Promise<void>;
  /** The tasks of anonymous callers, or of the given owner. */
  tasks(owner?: TaskOwner): ServedTasks;
  /** The push deliveries of all tasks, to list, replay and purge. */
  deliveries(): ServedDeliveries;
  /** Lets running turns end within a grace (default 5 s), then ends the streams. The storage stays open. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Makes a function from request to response of an agent, for Workers, Bun, Deno, Hono, Next.js and other hosts.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function createAgentHandler(options: AgentHandlerOptions): AgentHandler {
  checkPlatform('createAgentHandler');
  checkPlacedAgent({ subject: 'createAgentHandler', schemas: hostSchemas, options });
  const { path = '/', url } = options;
  const defaults = { logger: silentLogger, operates: false, compressor: webCompressor };
  const {
    host: setup,
    rule,
    inProcess,
  } = hostSetup({
    subject: 'createAgentHandler',
    agents: { [path]: options },
    options,
    defaults,
  });
  const { logger } = setup;
  const streams = new OpenStreams();
  const extensions = [
    ...(options.console ? [consoleBelow(path, { ...rule, settings: options.console })] : []),
    ...setup.extensions,
  ];
  const host = new AgentHost({
    ...setup,
    extensions,
    isTrustedProxy: rule.isTrustedProxy,
    baseUrl: baseUrlOf(rule),
    forwarding: forwardingOf(rule),
    knownHosts: { isPublicHost: rule.isPublicHost, publicUrl: rule.publicUrl, isTrustedProxy: rule.isTrustedProxy },
    streams,
  });
  const { exchange, limitReached } = host;
  const handler = {
    agentCard: host.cards[path] as AgentCard,
    url,
    exchange,
    logger,
    limitReached,
    start: () => host.start(),
    tasks: (owner: TaskOwner = {}) => host.tasks(path, owner),
    deliveries: () => host.deliveries(path),
    [IN_PROCESS]: inProcess.way.bind(inProcess),
    close: async ({ graceMs = 5_000 }: { readonly graceMs?: number } = {}) => {
      host.drain();
      await host.close(graceMs);
      streams.end();
    },
  };
  const needsCertificate = options.authenticator?.needsClientCertificate === true;
  const fetched = { exchange, limitReached, clock: systemClock };
  if (url !== undefined && !needsCertificate) return { ...handler, fetch: fetchOf(fetched) };
  // Not enumerable, because a copy of the handler for Express or Fastify would call the getter, which may throw.
  return Object.defineProperty(handler, 'fetch', {
    get: needsCertificate ? refuseCertificates : refuseFetch,
  }) as AgentHandler;
}

/** The console below the path of an agent. Its code is loaded with its first request. */
function consoleBelow(path: string, options: HostSetup['rule'] & Pick<ConsoleOptions, 'settings'>): HostExtension {
  const folder = `${path === '/' ? '' : path}/console`;
  return {
    endpoints: (host) => [
      consoleEndpoint(
        folder,
        onDemand(async () => (await import('./console-parts.js')).consoleAt({ ...options, host, folder })),
      ),
    ],
  };
}

/** The agent that clients in the process call, and their user. */
interface InProcessOptions {
  /** The path of the agent. Default: that of `connect`, or the only agent. */
  readonly path?: string;
  /** The user of every call. Absent: the authenticator of the agent finds the user from the credentials. */
  readonly user?: User;
}

/**
 * An agent of a server for `connect`, with a trusted user. The calls skip the authenticator. Only code with the server
 * object can name a user, so never take the user from a request unchecked.
 */
export function inProcess(server: InProcessAgent, { path, user }: InProcessOptions = {}): InProcessAgent {
  if (Object(server)[IN_PROCESS] === undefined)
    refuseArgument('inProcess', 'a server object, such as that of createA2AServer()', server);
  return {
    [IN_PROCESS]: (place) => server[IN_PROCESS]({ path: path ?? place.path, user: user ?? place.user }),
  };
}

/**
 * Makes a function from a web Request to a Response of an exchange. The `fetch` of `createAgentHandler` is such a
 * function. `limitReached` of the handler counts readers that are dropped.
 */
export function toFetch(
  exchange: Exchange,
  limitReached: AgentHandler['limitReached'] = () => {},
): AgentHandler['fetch'] {
  if (typeof exchange !== 'function') refuseArgument('toFetch', 'an exchange, such as handler.exchange', exchange);
  return fetchOf({ exchange, limitReached, clock: systemClock });
}

/** A web request has no certificate of its connection. */
function refuseCertificates(): never {
  const problem = 'authenticator: fetch cannot provide certificates of clients';
  throw new OptionsError('createAgentHandler', [
    `${problem}. Tell the authenticator the proxy that has them (forwarded)`,
  ]);
}

/** Only the configured url is the public address, because a web request contains only what its sender wrote. */
function refuseFetch(): never {
  throw new OptionsError('createAgentHandler', ['url: is needed for fetch, such as "https://example.com/agents/echo"']);
}
