import { toFetch } from '../adapters/fetch/to-fetch.js';
import { AgentServer } from '../adapters/node/agent-server.js';
import { FileAuditLog, type FileAuditLogOptions } from '../adapters/node/file-audit-log.js';
import { nodeCompressor } from '../adapters/node/node-compressor.js';
import type { ExportOwnerOptions } from '../adapters/node/owner-export.js';
import { baseServerExtension } from '../app/base-server/base-server-extension.js';
import {
  type BaseServerOptions,
  baseServerAgent,
  DEFAULT_TTL_SECONDS,
} from '../app/base-server/base-server-options.js';
import { consoleExtension } from '../app/console/console-extension.js';
import type { HostExtension } from '../app/host-extension.js';
import { openApiExtension } from '../app/openapi/openapi-extension.js';
import type { AgentOptions } from '../app/options/agent-options.js';
import type { AgentsByPath } from '../app/options/agents-by-path.js';
import { checkHost, checkPlacedAgent, type MountOptions } from '../app/options/host-options.js';
import { type ServerOptions, serverSchemas } from '../app/options/server-options.js';
import { checkClientCertificates } from '../app/options/tls-options.js';
import type { TaskOwner } from '../app/served-agent.js';
import { IN_PROCESS, type InProcessAgent } from '../bindings/in-process/in-process-agent.js';
import { MemoryCache } from '../cache/memory/memory-cache.js';
import { ReadThrough } from '../cache/read-through.js';
import type { AgentCard } from '../model/agent-card.js';
import type { BoundInterface } from '../model/bound-interface.js';
import { checkOptions } from '../options/check-options.js';
import { flag, nonEmpty, optionObject, positive } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { ServedDeliveries } from '../push/served-deliveries.js';
import type { ServedTasks } from '../server/served-tasks.js';
import type { OwnerQuery } from '../store/owner-query.js';
import type { ErasedCounts, EraseOwnerOptions } from '../user-data/erase-owner.js';
import type { ExportedCounts } from '../user-data/export-owner.js';
import type { OwnerCounts, OwnerDataOptions } from '../user-data/owner-data.js';
import { hostSetup } from './host-setup.js';
import { checkOwnerOptions } from './owner-options.js';
import { checkPlatform } from './platform.js';
import { systemClock, systemIds } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';
import { workerProcess } from './worker-process.js';

export type { FileAuditLog, FileAuditLogOptions } from '../adapters/node/file-audit-log.js';
export {
  type LoopbackRedirect,
  type LoopbackRedirectOptions,
  loopbackRedirect,
} from '../adapters/node/loopback-redirect.js';
export type { ExportOwnerOptions } from '../adapters/node/owner-export.js';
export type { BaseServerOptions } from '../app/base-server/base-server-options.js';
export type { CredentialConfig } from '../app/credential-config.js';
export { parseRate } from '../app/limits/rate-limit-options.js';
export type { CompressionOptions } from '../app/middleware/compression.js';
export type { CorsOptions, CorsOrigins } from '../app/middleware/cors-options.js';
export type { MetricsOptions } from '../app/observability/host-metrics.js';
export type { AgentOptions } from '../app/options/agent-options.js';
export type { AgentsByPath, SameAgent } from '../app/options/agents-by-path.js';
export type { ConsoleSettings } from '../app/options/host-options.js';
export type { PushOptions } from '../app/options/push-options.js';
export type { HttpServerTimes, ServerOptions } from '../app/options/server-options.js';
export type { TlsOptions } from '../app/options/tls-options.js';
export { readServerConfig, readServerSettings } from '../app/server-config.js';
export type { ServerConfig } from '../app/server-settings.js';
export type { SettingSource } from '../app/setting-reader.js';
export { OptionsError } from '../errors/options-error.js';
export type { BoundInterface, Listed } from '../model/bound-interface.js';
export { isLocalHost } from '../net/public-hosts.js';
export type { NotifiedWebhook } from '../push/operator-headers.js';
export type { ServedDeliveries } from '../push/served-deliveries.js';
export type { OwnerQuery } from '../store/owner-query.js';
export type { AuditLog, AuditPage, AuditRange, AuditRecord } from '../telemetry/audit-log.js';
export type { Meter } from '../telemetry/meter.js';
export type { LogLevel } from '../telemetry/text-logger.js';
export type { ErasedCounts } from '../user-data/erase-owner.js';
export type { ExportedCounts, ExportedFile, OwnerFileFacts, OwnerRecord } from '../user-data/export-owner.js';
export type { OwnerCounts } from '../user-data/owner-data.js';
export { readCardKeys, type SignCardOptions, signCard } from './card-key-files.js';
export { apiKeysFile, basicUsersFile, type CredentialOptions, credentialAuthenticator } from './credential-files.js';

/** One agent and its server. */
export type A2AServerOptions = AgentOptions & MountOptions & ServerOptions;

/** Several agents behind one server. */
export interface A2AHostOptions extends ServerOptions {
  readonly agents: AgentsByPath;
}

/** Times of a shutdown, in ms. */
interface CloseOptions {
  /** Time limit of running calls and turns, in ms. Default 5 s each. */
  readonly graceMs?: number;
  /** Time in ms for which requests are answered while `/readyz` fails, so that load balancers notice. Default 0. */
  readonly drainMs?: number;
}

/** Options of `listen`. */
export interface ListenOptions {
  /** The address of this machine. Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * Processes that run the program again behind one port; `max` is one for each core. They share a storage in memory or
   * SQLite. The first process then has no storage. Default: 1, this process alone. See docs/scaling.md.
   */
  readonly workers?: number | 'max';
}

/** A server of one or several agents. */
export interface A2AHost extends InProcessAgent {
  /** The public cards by path. Until the server listens they show interfaces only under a configured url. */
  readonly agentCards: Readonly<Record<string, AgentCard>>;
  /** All interfaces by path, with the cards that list them. Until the server listens, as `agentCards`. */
  readonly interfaces: Readonly<Record<string, readonly BoundInterface[]>>;
  /** The base url in cards; "" until the server listens, unless it is configured. */
  readonly url: string;
  /**
   * The tasks of an agent, for code of the application: those of anonymous callers, or of the given owner.
   * @throws OptionsError if no agent is under the path, or it has a handler of its own.
   */
  tasksOf(path: string, owner?: TaskOwner): ServedTasks;
  /**
   * The push deliveries of an agent, for code of the application, which can list, replay and purge them.
   * @throws OptionsError if no agent is under the path, or it has a handler of its own.
   */
  deliveriesOf(path: string): ServedDeliveries;
  /** Counts the data of a user, in all agents and tenants unless the query names one. */
  countOwner(owner: OwnerQuery): Promise<OwnerCounts>;
  /**
   * Exports the data of a user into a folder, see docs/user-data.md.
   * @throws OptionsError if the place is taken; StorageError if the storage fails.
   */
  exportOwner(owner: OwnerQuery, options: Pick<ExportOwnerOptions, 'to' | 'force'>): Promise<ExportedCounts>;
  /**
   * Erases the data of a user: tasks, conversations, push configurations, idempotency keys and files. Running turns are
   * canceled first. New messages of the user are refused with UNAVAILABLE meanwhile.
   * @throws StorageError if something cannot be erased. A repeated call erases the rest.
   */
  eraseOwner(owner: OwnerQuery, options?: Pick<EraseOwnerOptions, 'graceMs' | 'onProgress'>): Promise<ErasedCounts>;
  /**
   * Accepts connections, by default on port 8080 of 127.0.0.1; port 0 takes a free one.
   * @throws OptionsError for wrong options, and for workers that cannot share the storage.
   */
  listen(port?: number, place?: string | ListenOptions): Promise<{ readonly url: string }>;
  /**
   * Fails `/readyz`, and answers requests for `drainMs` (default 0). Then accepts no more connections, lets calls and
   * turns end within a grace (default 5 s each), and aborts the rest. The storage stays open.
   */
  close(options?: CloseOptions): Promise<void>;
  /** Answers a request without a socket. `platform` is as in `AgentHandler`. */
  fetch(request: Request, platform?: unknown): Promise<Response>;
}

/** A server of one agent. */
export interface A2AServer extends Omit<A2AHost, 'agentCards' | 'interfaces' | 'tasksOf' | 'deliveriesOf'> {
  /** The public card. */
  readonly agentCard: AgentCard;
  /** All interfaces, with the cards that list them. */
  readonly interfaces: readonly BoundInterface[];
  /** The tasks of anonymous callers, for code of the application. */
  readonly tasks: ServedTasks;
  /** The push deliveries of all tasks, to list, replay and purge. */
  readonly deliveries: ServedDeliveries;
  /** The tasks of one owner. */
  tasksOf(owner: TaskOwner): ServedTasks;
}

const auditSchema = optionObject({
  path: nonEmpty,
  required: Type.Optional(flag),
  rotateBytes: Type.Optional(positive),
  waitingBytes: Type.Optional(positive),
  reopenAtSighup: Type.Optional(flag),
});

/**
 * Opens an audit log in a file with one JSON object per line. Close it after the server.
 * @throws OptionsError naming every option that is unknown or wrong. Error if the file cannot be opened.
 */
export async function openAuditFile(options: Omit<FileAuditLogOptions, 'clock'>): Promise<FileAuditLog> {
  checkOptions({ subject: 'openAuditFile', schema: auditSchema, options });
  const log = new FileAuditLog({ ...options, clock: systemClock });
  await log.open();
  return log;
}

/**
 * Exports the data of a user in a storage and a file store into a folder, see docs/user-data.md. See `exportOwner` of
 * `A2AHost` for a server with a storage of its own.
 * @throws OptionsError if the place is taken; StorageError if the storage fails.
 */
export async function exportOwner(options: Omit<ExportOwnerOptions, 'clock' | 'ids'>): Promise<ExportedCounts> {
  checkOwnerOptions('exportOwner', options);
  const { exportOwnerTo } = await import('../adapters/node/owner-export.js');
  return exportOwnerTo({ ...options, clock: systemClock, ids: systemIds });
}

/**
 * Makes a server of one agent with its card, both HTTP bindings, streaming, and tasks in memory or in the given
 * storage.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function createA2AServer(options: A2AServerOptions): A2AServer {
  checkPlatform('createA2AServer');
  checkPlacedAgent({ subject: 'createA2AServer', schemas: serverSchemas, options });
  const { path = '/' } = options;
  const { server, ...parts } = serverOf('createA2AServer', { [path]: options }, options);
  return {
    get agentCard() {
      return server.cards[path] as AgentCard;
    },
    get interfaces() {
      return server.interfaces[path] ?? [];
    },
    get url() {
      return server.url;
    },
    get tasks() {
      return server.tasks(path);
    },
    get deliveries() {
      return server.deliveries(path);
    },
    tasksOf: (owner) => server.tasks(path, owner),
    ...callsOf(server, parts),
  };
}

/**
 * Makes a server of several agents, each under its path with its own card and tasks; `GET /` lists them.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function createA2AHost(options: A2AHostOptions): A2AHost {
  checkPlatform('createA2AHost');
  checkHost({ subject: 'createA2AHost', schemas: serverSchemas, options });
  const { server, ...parts } = serverOf('createA2AHost', options.agents, options);
  return {
    get agentCards() {
      return server.cards;
    },
    get interfaces() {
      return server.interfaces;
    },
    get url() {
      return server.url;
    },
    tasksOf: (path, owner) => server.tasks(path, owner),
    deliveriesOf: (path) => server.deliveries(path),
    ...callsOf(server, parts),
  };
}

/** The number of servers that were made. */
let servers = 0;

function serverOf(subject: string, agents: AgentsByPath, given: ServerOptions) {
  const number = servers++;
  const storage = workerProcess.server === number ? workerProcess.storage : given.storage;
  const options = storage === undefined ? given : { ...given, storage };
  const defaults = { logger: stderrLogger, operates: true, compressor: nodeCompressor };
  const { host, rule, inProcess } = hostSetup({ subject, agents, options, defaults });
  const { baseServer, openapi, allowAnonymous = false, http: times = {}, uncaughtErrors, tls } = options;
  checkClientCertificates(subject, { ...options, agents });
  const extensions = [
    ...(baseServer === undefined ? [] : [baseServerOf(subject, agents, baseServer)]),
    ...(openapi === true ? [openApiExtension] : []),
    ...(options.console
      ? [
          consoleExtension({
            load: async () => (await import('./console-parts.js')).consoleParts,
            settings: options.console,
            ...rule,
          }),
        ]
      : []),
    ...host.extensions,
  ];
  const server = new AgentServer({
    ...host,
    ...rule,
    tls,
    hstsSeconds: tls?.hstsSeconds,
    extensions,
    trustProxy: options.trustProxy,
    allowAnonymous,
    times,
    containsUncaughtErrors: uncaughtErrors !== 'process',
  });
  const files = extensions.find(({ fileStore }) => fileStore !== undefined)?.fileStore;
  const ownerData = (owner: OwnerQuery): OwnerDataOptions => {
    return { storage: host.storage, files, owner, audit: host.audit?.log, clock: systemClock, ids: systemIds };
  };
  const hasTaskStore = options.taskStore !== undefined;
  return { server, inProcess, ownerData, listening: { server, number, storage, hasTaskStore, logger: host.logger } };
}

function baseServerOf(subject: string, agents: AgentsByPath, options: BaseServerOptions): HostExtension {
  const path = baseServerAgent({ subject, options, paths: Object.keys(agents) });
  const { cache = new MemoryCache({ clock: systemClock }), cacheTtlSeconds = DEFAULT_TTL_SECONDS } = options;
  const texts = new ReadThrough({ cache, ttlMs: cacheTtlSeconds * 1000 });
  return baseServerExtension({ options, path, cache, texts });
}

type HostCalls = 'listen' | 'close' | 'fetch' | 'countOwner' | 'exportOwner' | 'eraseOwner' | typeof IN_PROCESS;

function callsOf(
  server: AgentServer,
  { inProcess, ownerData, listening }: Omit<ReturnType<typeof serverOf>, 'server'>,
): Pick<A2AHost, HostCalls> {
  return {
    countOwner: async (owner) => (await import('../user-data/owner-data.js')).countOwner(ownerData(owner)),
    exportOwner: async (owner, options) => {
      const { exportOwnerTo } = await import('../adapters/node/owner-export.js');
      return exportOwnerTo({ ...options, ...ownerData(owner) });
    },
    eraseOwner: async (owner, options = {}) => {
      const { eraseOwner } = await import('../user-data/erase-owner.js');
      return eraseOwner({ ...options, ...ownerData(owner) });
    },
    listen: (port = 8080, place = '127.0.0.1') =>
      typeof place === 'string'
        ? server.listen({ host: place, port })
        : import('./listen-workers.js').then(({ listenWith }) => listenWith(listening, port, place)),
    close: ({ graceMs = 5_000, drainMs = 0 } = {}) => server.close({ graceMs, drainMs }),
    fetch: toFetch({ ...server.host, clock: systemClock }),
    [IN_PROCESS]: (place) => inProcess.way(place),
  };
}
