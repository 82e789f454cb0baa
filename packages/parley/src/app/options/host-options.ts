import type { CardSigningOptions } from '../../agent-card/signatures/card-signing-options.js';
import type { Authenticator } from '../../auth/authenticator.js';
import { OptionsError } from '../../errors/options-error.js';
import { isObject } from '../../model/json.js';
import { checkOptions } from '../../options/check-options.js';
import {
  closed,
  count,
  custom,
  flag,
  type OptionSchemas,
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
import { type CorsOptions, type CorsOrigins, corsSchema } from '../middleware/cors.js';
import { type MetricsOptions, metricsSchema } from '../observability/host-metrics.js';
import { type AgentOptions, agentProblem, agentSchemas, authenticatorSchema } from './agent-options.js';
import { type AgentsOfHost, agentProblems, pathSchema } from './agents-by-path.js';
import { type PushOptions, pushSchema } from './push-options.js';

/** The default of `cardMaxAgeSeconds`. */
export const DEFAULT_CARD_AGE_SECONDS = 3600;

/** The options of a server or handler for all of its agents. */
export interface HostOptions {
  /**
   * Authenticates callers of the host: of its own endpoints, such as `/metrics` and `/docs`, and of agents without an
   * authenticator. Default: own endpoints take the credentials of any agent, and are open if no agent has an
   * authenticator.
   */
  readonly authenticator?: Authenticator;
  /** The public base url of the server; agents are found below it under their paths. */
  readonly url?: string;
  /** Proxies whose forwarded headers are believed: addresses, ranges such as `10.0.0.0/8`, `loopback`. */
  readonly trustProxy?: readonly string[];
  /**
   * The hosts that the server goes by, such as `agents.example.com` or `agents.example.com:8443`. Forwarded headers may
   * name no other, and a server on loopback without authentication takes these beside the names of its machine.
   * Default: forwarded headers may name any host, and no shared cache may keep the card.
   */
  readonly publicHosts?: readonly string[];
  /** The storage of tasks; default: in memory. The application closes a storage that it opens. */
  readonly storage?: TaskStorage;
  /** The application's own database for tasks, instead of a storage. docs/interfaces.md has its limits. */
  readonly taskStore?: TaskStore;
  /**
   * Keys of 32 bytes, in base64 or hex, for credentials in the storage: those of webhooks, with their urls, and those
   * that a turn keeps. The first key encrypts, and all decrypt: to rotate, put a new key first. Default: webhooks are
   * stored as they are, and credentials of turns stay in memory.
   */
  readonly secretKeys?: readonly string[];
  readonly logger?: Logger;
  /** The lifetimes of tasks and their events. */
  readonly retention?: Partial<RetentionPolicy>;
  /** The time for which clients may cache a card; default 3600. */
  readonly cardMaxAgeSeconds?: number;
  /** Silence on a stream after which a comment shows that it lives; default 15 s. */
  readonly streamHeartbeatMs?: number;
  /** Bytes of all large request bodies in progress; beyond them large requests wait, then 429. Default: 32 MiB. */
  readonly bodyMemory?: number;
  /** Signs the cards with these keys. Needs `url` and the package `jose`; default: no signatures. */
  readonly cardSigning?: CardSigningOptions;
  /** The rate of requests of one address, and of one user or anonymous address; default: no limit. */
  readonly rateLimit?: RateLimitOptions;
  /** Tokens of models that agents may use; default: no limit. docs/costs.md has the rules. */
  readonly tokenBudget?: TokenBudgetOptions;
  /** Open streams and running turns at the same time, of one caller and of all callers. */
  readonly concurrency?: Partial<ConcurrencyLimits>;
  /** The other origins whose pages may call from a browser; default: none. */
  readonly cors?: CorsOrigins | CorsOptions;
  /** True if answers forbid browsers to guess their type (`X-Content-Type-Options`); default false. */
  readonly nosniff?: boolean;
  /**
   * Compression of longer answers for clients that accept it. Default: true for a server with a socket of its own,
   * false behind another host, which may compress answers itself.
   */
  readonly compression?: boolean | CompressionOptions;
  /**
   * True if `/healthz` and `/readyz` are answered on the origin. Default: true for a server with a socket of its own,
   * false behind another host.
   */
  readonly health?: boolean;
  /**
   * The metrics and their readers. Default: everything, at `/metrics`, for a server with a socket of its own; nothing
   * behind another host.
   */
  readonly metrics?: boolean | MetricsOptions;
  /**
   * True if every request gets an id, which its answer names, and a line in the log at the level info. Default: as for
   * `metrics`.
   */
  readonly logRequests?: boolean;
  /** Gets a record of each call and each refusal. The application closes a log that it opens. Default: none. */
  readonly audit?: AuditLog;
  /**
   * Push notifications of the agents, and the private webhooks that may be called. Default: true for a server with a
   * socket of its own, false behind another host.
   */
  readonly push?: boolean | PushOptions;
  /** Further bindings of the agents, such as `grpcBinding()` of `parley-a2a-grpc`. Default: no others. */
  readonly bindings?: readonly HostExtension[];
  /** Files beside the protocol, made by `fileTransfer()` of `parley-a2a/files`. Default: none. */
  readonly files?: HostExtension;
  /** Lets agents call other agents, made by `agentCalls()` of `parley-a2a/agent-calls`. Default: they cannot. */
  readonly calls?: HostExtension;
  /** An API for operators, made by `operatorApi()` of `parley-a2a/operator`. Default: none. */
  readonly operator?: HostExtension;
  /** Schemas of data and metadata, made by `agentSchemas()` of `parley-a2a/schemas`. Default: none. */
  readonly schemas?: HostExtension | readonly HostExtension[];
  /** Signed and encrypted messages, made by `messageSigning()` of `parley-a2a-signing`. Default: none. */
  readonly signing?: HostExtension | readonly HostExtension[];
  /** Spans and metrics of calls and turns, made by `serverTracing()` of `parley-a2a-otel`. Default: none. */
  readonly tracing?: HostExtension;
}

/** The place of a single agent. */
export interface MountOptions {
  /** The path it is served under; default `/`, where the bindings are at `/a2a/jsonrpc` and `/a2a/rest`. */
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
  retention: Type.Optional(closed({ taskRetentionMs: ms, eventLogMs: ms, everyMs: ms })),
  cardMaxAgeSeconds: Type.Optional(count),
  streamHeartbeatMs: ms,
  bindings: Type.Optional(Type.Array(withMethod('interfaces'))),
  files: Type.Optional(madeBy('fileTransfer', 'turnPorts')),
  calls: Type.Optional(madeBy('agentCalls', 'turnPorts')),
  operator: Type.Optional(madeBy('operatorApi', 'endpoints')),
  schemas: Type.Optional(madeBy('agentSchemas', 'aroundAgent')),
  signing: Type.Optional(madeBy('messageSigning', 'aroundAgent')),
  tracing: Type.Optional(madeBy('serverTracing', 'aroundAgent')),
  bodyMemory: Type.Optional(positive),
  cardSigning: Type.Optional(closed({ keys: Type.Array(cardKey, { minItems: 1 }) })),
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
export interface HostCheck<Options> {
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
    schema: closed({ ...agentSchemas, path: Type.Optional(pathSchema), ...schemas }),
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
  checkOptions({ subject, schema: closed({ agents, ...schemas }), options });
  const problems = agentProblems(subject, options);
  if (problems.length > 0) throw new OptionsError(subject, problems);
}
