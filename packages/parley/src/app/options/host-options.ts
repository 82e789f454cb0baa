import type { CardSigningOptions } from '../../agent-card/signatures/card-signing-options.js';
import type { Authenticator } from '../../auth/authenticator.js';
import { OptionsError } from '../../errors/options-error.js';
import { isObject } from '../../model/json.js';
import { checkOptions } from '../../options/check-options.js';
import {
  count,
  custom,
  eitherOf,
  flag,
  type OptionSchemas,
  optionObject,
  positive,
  texts,
  webUrl,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { isSecretKey } from '../../secrets/secret-keys.js';
import type { RetentionPolicy } from '../../server/retention-sweeper.js';
import type { TaskStorage } from '../../store/task-storage.js';
import type { TaskStore } from '../../store/task-store.js';
import type { AuditLog } from '../../telemetry/audit-log.js';
import type { Logger } from '../../telemetry/logger.js';
import type { HostExtension } from '../host-extension.js';
import { type ConcurrencyLimits, concurrencySchema } from '../limits/concurrency.js';
import { type RateLimitOptions, rateLimitSchema } from '../limits/rate-limit-options.js';
import { type TokenBudgetOptions, tokenBudgetSchema } from '../limits/token-budget-options.js';
import {
  type Compression,
  type CompressionOptions,
  type Compressor,
  compressionSchema,
  MINIMUM_LENGTH,
} from '../middleware/compression.js';
import { type CorsOptions, type CorsOrigins, corsSchema } from '../middleware/cors-options.js';
import { type MetricsOptions, metricsSchema } from '../observability/host-metrics.js';
import { type AgentOptions, agentProblem, agentSchemas, authenticatorSchema, wholeMs } from './agent-options.js';
import { type AgentsOfHost, agentProblems, pathSchema } from './agents-by-path.js';
import { type PushOptions, pushSchema } from './push-options.js';

/** The default of `cardMaxAgeSeconds`. */
export const DEFAULT_CARD_AGE_SECONDS = 3600;

/** Settings of the console. */
export interface ConsoleSettings {
  /** The url of a trace in a tracing tool, with `{traceId}` for its id. Default: pages show the id alone. */
  readonly traceUrl?: string;
}

const consoleSettings: OptionSchemas<ConsoleSettings> = {
  traceUrl: Type.Optional(
    Type.Refine(
      webUrl('must be an absolute http or https URL'),
      (url) => String(url).includes('{traceId}'),
      () => 'must have {traceId}',
    ),
  ),
};

/** The options of a server or handler for all of its agents. */
export interface HostOptions {
  /**
   * Authenticates callers of the host: of its own endpoints, such as `/metrics` and `/docs`, and of agents without an
   * authenticator. Without it, own endpoints take the credentials of any agent, and are open if no agent has an
   * authenticator.
   * @defaultValue none: every caller is anonymous
   * @see docs/authentication.md
   */
  readonly authenticator?: Authenticator;
  /**
   * The public base url of the server. Agents are found below it under their paths.
   * @defaultValue the address bound
   */
  readonly url?: string;
  /**
   * Proxies whose forwarded headers are believed: addresses, ranges such as `10.0.0.0/8`, `loopback`. The variable is
   * `A2A_TRUST_PROXY`.
   * @defaultValue none
   */
  readonly trustProxy?: readonly string[];
  /**
   * The hosts that the server goes by, such as `agents.example.com` or `agents.example.com:8443`. Forwarded headers may
   * name no other. A server on loopback without authentication takes these beside the names of its machine. Without it,
   * forwarded headers may name any host, and no shared cache may keep the card. The variable is `A2A_PUBLIC_HOSTS`.
   * @defaultValue none
   * @see docs/configuration.md#hosts
   */
  readonly publicHosts?: readonly string[];
  /**
   * The storage of tasks. The application closes a storage that it opens.
   * @defaultValue in memory
   * @see docs/storage.md
   */
  readonly storage?: TaskStorage;
  /**
   * The application's own database for tasks, instead of a storage.
   * @defaultValue none
   * @see docs/interfaces.md#a-task-store
   */
  readonly taskStore?: TaskStore;
  /**
   * Keys of 32 bytes, in base64 or hex, for credentials in the storage: those of webhooks, with their urls, and those
   * that a turn keeps. The first key encrypts, and all decrypt: to rotate, put a new key first. Without keys, webhooks
   * are stored as they are, and credentials of turns stay in memory. The variable is `A2A_SECRET_KEYS`.
   * @defaultValue none
   * @see docs/configuration.md#keys-for-secrets
   */
  readonly secretKeys?: readonly string[];
  /**
   * The log of the library.
   * @defaultValue warnings and errors to standard error; none for `createAgentHandler`
   * @see docs/operations.md#logs
   */
  readonly logger?: Logger;
  /**
   * The lifetimes of ended tasks and of their events.
   * @defaultValue 30 days, 1 hour
   * @see docs/storage.md#what-is-kept-how-long
   */
  readonly retention?: Partial<RetentionPolicy>;
  /**
   * The time for which clients may use a card from their cache, in seconds.
   * @defaultValue 3600
   */
  readonly cardMaxAgeSeconds?: number;
  /**
   * Silence on a stream after which a comment shows that it lives.
   * @defaultValue 15000
   */
  readonly streamHeartbeatMs?: number;
  /**
   * Bytes of all request bodies and frames over 64 KiB in work. Beyond them large requests pause, and after 10 s get
   * 429 with `Retry-After`.
   * @defaultValue 33554432
   */
  readonly bodyMemory?: number;
  /**
   * Signs the cards with these keys: `{ keys }`. Needs `url`.
   * @defaultValue none
   * @see docs/configuration.md#signed-cards
   */
  readonly cardSigning?: CardSigningOptions;
  /**
   * The rate of requests of one address, and of one user or anonymous address: `{ requests, windowMs }`, or `{
   * perAddress, perPrincipal }`.
   * @defaultValue none
   * @see docs/configuration.md#rates
   */
  readonly rateLimit?: RateLimitOptions;
  /**
   * Tokens of models that agents may use.
   * @defaultValue no limit
   * @see docs/costs.md
   */
  readonly tokenBudget?: TokenBudgetOptions;
  /**
   * Open streams and running turns at the same time, of one caller and of all callers.
   * @defaultValue each has its own
   * @see docs/configuration.md#callers-at-the-same-time
   */
  readonly concurrency?: Partial<ConcurrencyLimits>;
  /**
   * The other origins whose pages may call from a browser: `'*'`, a list such as `['https://page.example']`, a function
   * of the origin, or an object `{ origins, allowedHeaders, exposedHeaders, credentials, maxAgeSeconds }`.
   * @defaultValue none
   */
  readonly cors?: CorsOrigins | CorsOptions;
  /**
   * True if answers forbid browsers to guess their type (`X-Content-Type-Options: nosniff`).
   * @defaultValue `false`
   */
  readonly nosniff?: boolean;
  /**
   * Compression of answers of more than 1,024 characters for clients that accept it, or `{ gzipLevel, brotliQuality,
   * minimumLength }`.
   * @defaultValue `true`; `false` for `createAgentHandler`, whose host may compress answers itself
   * @see docs/operations.md#compression
   */
  readonly compression?: boolean | CompressionOptions;
  /**
   * True if `/healthz` and `/readyz` are answered on the origin.
   * @defaultValue `true`; `false` for `createAgentHandler`
   * @see docs/operations.md
   */
  readonly health?: boolean;
  /**
   * The metrics and their readers, at `/metrics`, or `{ meter, endpoint, authenticator }`.
   * @defaultValue `true`; `false` for `createAgentHandler`
   * @see docs/operations.md#metrics
   */
  readonly metrics?: boolean | MetricsOptions;
  /**
   * True if every request gets an id, which its answer names, and a line in the log at the level info.
   * @defaultValue `true`; `false` for `createAgentHandler`
   * @see docs/operations.md#logs
   */
  readonly logRequests?: boolean;
  /**
   * Gets a record of each call and each refusal: an object with a method `write`. The application closes a log that it
   * opens.
   * @defaultValue none
   * @see docs/audit-log.md
   */
  readonly audit?: AuditLog;
  /**
   * Push notifications of the agents, and the private webhooks that may be called.
   * @defaultValue `true`; `false` for `createAgentHandler`
   * @see docs/push.md#options
   */
  readonly push?: boolean | PushOptions;
  /**
   * Further bindings of the agents, such as `grpcBinding()` of `parley-a2a-grpc` or `capnwebBinding()` of
   * `parley-a2a-capnweb`.
   * @defaultValue none
   * @see docs/grpc.md
   */
  readonly bindings?: readonly HostExtension[];
  /**
   * Files beside the protocol, made by `fileTransfer()` of `parley-a2a/files`.
   * @defaultValue none
   * @see docs/files.md
   */
  readonly files?: HostExtension;
  /**
   * Lets agents call other agents, made by `agentCalls()` of `parley-a2a/agent-calls`.
   * @defaultValue none: they cannot
   * @see docs/calling-agents.md
   */
  readonly calls?: HostExtension;
  /**
   * True if browsers get the console, at `/` of a server, or at `/console` below the path of an agent behind another
   * host. Needs the package `parley-a2a-console`. Requests through proxies and for foreign hosts do not get it.
   * `{ traceUrl }` makes links of traces.
   * @defaultValue `false`
   * @see docs/console.md
   */
  readonly console?: boolean | ConsoleSettings;
  /**
   * An API for operators, made by `operatorApi()` of `parley-a2a/operator`.
   * @defaultValue none
   * @see docs/operator-api.md
   */
  readonly operator?: HostExtension;
  /**
   * Schemas of data and metadata, made by `agentSchemas()` of `parley-a2a/schemas`, or a list of these.
   * @defaultValue none
   * @see docs/schemas.md
   */
  readonly schemas?: HostExtension | readonly HostExtension[];
  /**
   * Signed and encrypted messages, made by `messageSigning()` of `parley-a2a-signing`, or a list of these.
   * @defaultValue none
   * @see docs/signing.md
   */
  readonly signing?: HostExtension | readonly HostExtension[];
  /**
   * Spans and metrics of calls and turns, made by `serverTracing()` of `parley-a2a-otel`.
   * @defaultValue none
   * @see docs/tracing.md
   */
  readonly tracing?: HostExtension;
}

/** The place of a single agent. */
export interface MountOptions {
  /**
   * The path of a single agent. At the root the bindings are at `/a2a/jsonrpc` and `/a2a/rest`.
   * @defaultValue `/`
   */
  readonly path?: string;
}

const publicUrl = Type.Refine(
  Type.Refine(
    webUrl('must be an absolute http or https URL'),
    (url) => String(url).length <= 2000,
    () => 'must have at most 2,000 characters',
  ),
  (url) => !/[?#@]/.test(String(url)),
  () => 'must have no query, fragment or user',
);
const ms = Type.Optional(positive);
const secretKey = custom(
  (key) => typeof key === 'string' && isSecretKey(key),
  'must be a key of 32 bytes in base64 or hex',
);

const cardKey = custom(
  (value) => typeof value === 'object' && value !== null && 'kty' in value,
  'must be a JSON Web Key',
);

/** An extension, or a list of them, that a function has made. */
function madeBy(name: string, member: keyof HostExtension): Type.TSchema {
  const isMade = (value: unknown) => typeof value === 'object' && value !== null && member in value;
  return custom((value) => [value].flat().every(isMade), `must be made by ${name}()`);
}

/** The schemas of HostOptions. */
export const hostSchemas: OptionSchemas<HostOptions> = {
  authenticator: Type.Optional(authenticatorSchema),
  url: Type.Optional(publicUrl),
  trustProxy: Type.Optional(texts),
  publicHosts: Type.Optional(texts),
  storage: Type.Optional(withMethod('accept', 'Give a storage, such as await openStorage(url)')),
  taskStore: Type.Optional(withMethod('update')),
  secretKeys: Type.Optional(Type.Array(secretKey, { minItems: 1 })),
  logger: Type.Optional(withMethod('error')),
  retention: Type.Optional(optionObject({ taskRetentionMs: wholeMs, eventLogMs: wholeMs, everyMs: ms })),
  cardMaxAgeSeconds: Type.Optional(count),
  streamHeartbeatMs: ms,
  bindings: Type.Optional(Type.Array(withMethod('interfaces'))),
  files: Type.Optional(madeBy('fileTransfer', 'turnPorts')),
  calls: Type.Optional(madeBy('agentCalls', 'turnPorts')),
  console: Type.Optional(eitherOf([flag, optionObject(consoleSettings)], 'must be true, false or an object')),
  operator: Type.Optional(madeBy('operatorApi', 'endpoints')),
  schemas: Type.Optional(madeBy('agentSchemas', 'aroundAgent')),
  signing: Type.Optional(madeBy('messageSigning', 'aroundAgent')),
  tracing: Type.Optional(madeBy('serverTracing', 'aroundAgent')),
  bodyMemory: Type.Optional(positive),
  cardSigning: Type.Optional(optionObject({ keys: Type.Array(cardKey, { minItems: 1 }) })),
  rateLimit: Type.Optional(rateLimitSchema),
  tokenBudget: Type.Optional(tokenBudgetSchema),
  concurrency: Type.Optional(concurrencySchema),
  cors: Type.Optional(corsSchema),
  nosniff: Type.Optional(flag),
  compression: Type.Optional(compressionSchema),
  health: Type.Optional(flag),
  metrics: Type.Optional(metricsSchema),
  logRequests: Type.Optional(flag),
  audit: Type.Optional(withMethod('write')),
  push: Type.Optional(pushSchema),
};

/** Compression by the option, with the compressor of the host. */
export function compressionOf(
  chosen: boolean | CompressionOptions,
  make: (options: CompressionOptions) => Compressor,
): Compression | undefined {
  if (chosen === false) return undefined;
  const options = chosen === true ? {} : chosen;
  return { compressor: make(options), minimumLength: options.minimumLength ?? MINIMUM_LENGTH };
}

/** Metrics by the option, or by the default if the option is absent. */
export function metricsOf(metrics: HostOptions['metrics'], otherwise: boolean): MetricsOptions | undefined {
  const chosen = metrics ?? otherwise;
  return chosen === true ? {} : chosen === false ? undefined : chosen;
}

/** The options of a host, the schemas beside those of agents, and the name of the function that takes them. */
interface HostCheck<Options> {
  readonly subject: string;
  readonly schemas: Readonly<Record<string, Type.TSchema>>;
  readonly options: Options;
}

/**
 * Checks the options of one agent together with those of its server.
 * @throws OptionsError naming every option at fault.
 */
export function checkPlacedAgent({ subject, schemas, options }: HostCheck<AgentOptions>): void {
  checkOptions({
    subject,
    schema: optionObject({ ...agentSchemas, path: Type.Optional(pathSchema), ...schemas }),
    options,
  });
  const problem = agentProblem(options);
  if (problem !== undefined) throw new OptionsError(subject, [problem]);
}

/**
 * Checks the options of a server with several agents.
 * @throws OptionsError naming every option at fault, and its agent.
 */
export function checkHost({ subject, schemas, options }: HostCheck<AgentsOfHost>): void {
  const agents = custom(isObject, 'must be an object of agents by path');
  checkOptions({ subject, schema: optionObject({ agents, ...schemas }), options });
  const problems = agentProblems(subject, options);
  if (problems.length > 0) throw new OptionsError(subject, problems);
}
