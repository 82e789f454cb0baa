import type { AgentHostOptions } from '../app/agent-host.js';
import { authorizationExtension } from '../app/authorization-extension.js';
import type { BaseUrlRule } from '../app/base-url.js';
import { cardKeys, cardSigning } from '../app/card-signing.js';
import { InProcess } from '../app/in-process.js';
import { keySetExtension } from '../app/key-set-extension.js';
import type { Compressor } from '../app/middleware/compression.js';
import { healthExtension } from '../app/observability/health-endpoints.js';
import { type AgentsByPath, agentAt } from '../app/options/agents-by-path.js';
import { compressionOf, DEFAULT_CARD_AGE_SECONDS, type HostOptions, metricsOf } from '../app/options/host-options.js';
import { protectedResourceExtension } from '../app/protected-resource.js';
import { DEFAULT_HEARTBEAT_MS } from '../bindings/http/binding-context.js';
import { BodyBudget } from '../bindings/http/body-budget.js';
import { OptionsError } from '../errors/options-error.js';
import { clientAddress } from '../net/client-address.js';
import { publicHosts } from '../net/public-hosts.js';
import { trustedProxies } from '../net/trusted-proxy.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import type { SecretSealer } from '../server/authorization.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { sealedStorage } from '../store/sealed-storage.js';
import { storeBackedStorage } from '../store/store-backed-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { publishedKeys, pushPorts } from './push-setup.js';
import { systemClock, systemIds } from './runtime.js';

/** The options of a host, and the function that was called with them. */
interface HostSetupOptions {
  /** The name of the function, for errors. */
  readonly subject: string;
  readonly agents: AgentsByPath;
  readonly options: HostOptions;
  readonly defaults: HostDefaults;
}

/** Defaults that differ between a server with a socket and a handler behind another host. */
interface HostDefaults {
  readonly logger: Logger;
  /** True if probes, metrics, log lines and compression are on by default. */
  readonly operates: boolean;
  readonly compressor: (options: { readonly gzipLevel?: number; readonly brotliQuality?: number }) => Compressor;
}

/** The options of a host of agents, except for what depends on its socket. */
export interface HostSetup {
  readonly host: Omit<AgentHostOptions, 'baseUrl'>;
  readonly rule: BaseUrlRule;
  /** The clients in the process. */
  readonly inProcess: InProcess;
}

/**
 * Maps the options of an application to those of a host of agents.
 * @throws OptionsError for an invalid proxy or host name, and for both a storage and a task store.
 */
export function hostSetup({ subject, agents, options, defaults }: HostSetupOptions): HostSetup {
  const logger = steadyLogger(options.logger ?? defaults.logger);
  const { operates } = defaults;
  const signing = options.cardSigning && cardSigning(subject, options.cardSigning, options.url);
  const published = [...publishedKeys(options.push ?? operates), ...(signing ? [cardKeys(signing)] : [])];
  const isTrustedProxy = options.trustProxy?.length ? trustedProxies(options.trustProxy) : undefined;
  const inProcess = new InProcess(subject);
  return {
    inProcess,
    host: {
      agents,
      authenticator: options.authenticator,
      secrets: options.secretKeys && sealer(options.secretKeys),
      storage: withSecretKeys(taskPlace({ subject, agents, options, logger }), options, logger),
      clock: systemClock,
      ids: systemIds,
      logger,
      bodies: new BodyBudget({ maxBytes: options.bodyMemory, clock: systemClock }),
      heartbeatMs: options.streamHeartbeatMs ?? DEFAULT_HEARTBEAT_MS,
      cardMaxAgeSeconds: options.cardMaxAgeSeconds ?? DEFAULT_CARD_AGE_SECONDS,
      retention: options.retention,
      cors: options.cors,
      nosniff: options.nosniff,
      concurrency: options.concurrency,
      rateLimit: options.rateLimit,
      tokenBudget: options.tokenBudget,
      signing,
      compression: compressionOf(options.compression ?? operates, defaults.compressor),
      metrics: metricsOf(options.metrics, operates),
      logRequests: options.logRequests ?? operates,
      audit: options.audit && { log: options.audit, addressOf: (request) => clientAddress(request, isTrustedProxy) },
      push: pushPorts(subject, options.push ?? operates),
      extensions: [
        ...((options.health ?? operates) ? [healthExtension] : []),
        protectedResourceExtension,
        ...(published.length > 0 ? [keySetExtension(published)] : []),
        authorizationExtension,
        inProcess,
        ...(options.bindings ?? []),
        ...(options.files ? [options.files] : []),
        ...(options.calls ? [options.calls] : []),
        ...(options.operator ? [options.operator] : []),
        ...[options.schemas ?? []].flat(),
        // The last one is the outermost: it reads messages first, and gets answers last.
        ...[options.signing ?? []].flat(),
        ...(options.tracing ? [options.tracing] : []),
      ],
    },
    rule: {
      publicUrl: options.url,
      isTrustedProxy,
      isPublicHost: options.publicHosts && publicHosts(options.publicHosts),
    },
  };
}

function withSecretKeys(storage: TaskStorage, { secretKeys: keys }: HostOptions, logger: Logger): TaskStorage {
  return keys === undefined ? storage : sealedStorage(storage, { keys, logger });
}

interface TaskPlace extends Pick<HostSetupOptions, 'subject' | 'agents' | 'options'> {
  readonly logger: Logger;
}

/** The given storage, memory that writes through to a task store, or memory. A task store is for the first agent. */
function taskPlace({ subject, agents, options: { storage, taskStore: store }, logger }: TaskPlace): TaskStorage {
  if (storage !== undefined && store !== undefined) {
    throw new OptionsError(subject, ['needs either storage or taskStore, not both']);
  }
  const working = storage ?? new MemoryStorage({ clock: systemClock });
  if (store === undefined) return working;
  const [first = '/'] = Object.keys(agents);
  const agent = agentAt(agents, first).options.id ?? first;
  return storeBackedStorage({ store, working, agent, clock: systemClock, ids: systemIds, logger });
}

/** Loaded with the first secret, because most servers have none. */
function sealer(keys: readonly string[]): SecretSealer {
  const box = new LoadedOnDemand(async () => {
    const { SecretBox } = await import('../secrets/secret-box.js');
    return new SecretBox(keys);
  });
  return {
    seal: async (...secret) => (await box.get()).seal(...secret),
    open: async (...secret) => (await box.get()).open(...secret),
  };
}
