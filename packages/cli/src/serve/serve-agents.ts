import { randomBytes } from 'node:crypto';
import { type Logger, textLogger } from 'parley-a2a';
import type { Authenticator } from 'parley-a2a/auth';
import {
  type A2AHostOptions,
  createA2AHost,
  credentialAuthenticator,
  isLocalHost,
  readCardKeys,
  readServerSettings,
  type ServerConfig,
  type SettingSource,
} from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { SERVER_SETTINGS } from 'parley-a2a/server-settings';
import { openStorage, type TaskStorage } from 'parley-a2a/storage';
import { chosenBindings, SERVED_BINDINGS } from '../agent/bindings.js';
import { settingName, variableTexts } from '../command-line/flags.js';
import type { Invocation } from '../command-line/invocation.js';
import { backendsOf, databaseUrl } from '../database/backends.js';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import { logLevelOf, portOf, tellListening, tellOperatorToken, untilListening, untilStopped } from './listening.js';
import type { ModuleAgent } from './module-agent.js';
import { type OperatorFiles, operatorFiles } from './operator-files.js';

/** Serves one or more agents with the options of the flags. */
export async function serveAgents({ settings, output, tracing }: Invocation, source: ModuleAgent): Promise<number> {
  const config = readServerSettings('Settings', sourceOf(settings));
  const { port, host: address, publicUrl, publicHosts, trustProxy, corsOrigins, cardKeys, rateLimit, tls } = config;
  const logger = textLogger({ level: logLevelOf(settings) });
  const storage = await storageFor(settings, logger);
  const name = settings.text('name');
  const description = settings.text('description');
  const agents =
    'host' in source
      ? source.host.agents
      : {
          '/': {
            ...source.agent,
            ...(name !== undefined && { name }),
            ...(description !== undefined && { description }),
          },
        };
  let files: OperatorFiles = {};
  try {
    files = await operatorFiles(settings);
    const authenticator = await authenticatorOf(config, logger);
    const place = { port, host: address };
    // Each worker would have a different token.
    const hasToken = config.operator && isLocalHost(address) && settings.text('workers') === undefined;
    const token = hasToken ? randomBytes(32).toString('base64url') : undefined;
    const own: Partial<A2AHostOptions> = 'host' in source ? source.host : {};
    const push = pushOf(own.push, config.pushAllow);
    const host = createA2AHost({
      openapi: true,
      // With a public url, a proxy gives other machines access.
      console: isLocalHost(place.host) && publicUrl === undefined,
      ...own,
      agents,
      storage,
      logger,
      ...(tracing !== undefined && own.tracing === undefined && (await tracing.server(logger))),
      ...(authenticator && { authenticator }),
      ...(tls && { tls }),
      ...files,
      bindings: [...(own.bindings ?? []), ...(await bindingsOf(settings))],
      allowAnonymous: config.allowAnonymous,
      ...(rateLimit !== undefined && { rateLimit }),
      ...(publicUrl !== undefined && { url: publicUrl }),
      ...(publicHosts !== undefined && { publicHosts }),
      ...(trustProxy.length > 0 && { trustProxy }),
      ...(corsOrigins !== undefined && { cors: corsOrigins }),
      ...(cardKeys !== undefined && { cardSigning: { keys: await readCardKeys(cardKeys) } }),
      ...(push !== undefined && { push }),
      ...(config.tokenBudget && { tokenBudget: { ...own.tokenBudget, ...config.tokenBudget } }),
      ...(config.operator && { operator: operatorApi(token === undefined ? {} : { token }) }),
    });
    const drainMs = settings.duration('drain') ?? 0;
    const { url } = await untilListening(host.listen(place.port, place.host), place);
    const agentsAt = Object.entries(host.agentCards).map(([path, card]) => {
      const base = `${url}${path === '/' ? '' : path}`;
      const further = host.interfaces[path]?.filter(({ listed = 'public' }) => listed !== 'public') ?? [];
      return {
        name: card.name,
        url: base,
        card: `${base}/.well-known/agent-card.json`,
        unlisted: further.map(({ protocolBinding, protocolVersion, url: at }) =>
          [protocolBinding, protocolVersion, at].join(' '),
        ),
      };
    });
    if (settings.text('workers') === undefined) {
      const stopped = untilStopped({ close: () => host.close({ drainMs }) });
      for (const agent of agentsAt) tellListening(output, agent);
      if (token !== undefined) tellOperatorToken(output, { url: `${url}/operator/v1`, token });
      await stopped;
    } else {
      const { workUntilStopped } = await import('./worker.js');
      const metricsPort = settings.text('metrics-port');
      await workUntilStopped(host, {
        agentsAt,
        drainMs,
        ...(metricsPort && { metricsPort: portOf(metricsPort, 'metrics-port') }),
      });
    }
  } finally {
    await storage.close();
    await files.audit?.close();
  }
  return 0;
}

/** Returns the push options of a host, with further allowed destinations. */
function pushOf(push: A2AHostOptions['push'], allowed: readonly string[]): A2AHostOptions['push'] {
  if (allowed.length === 0 || push === false) return push;
  const options = typeof push === 'object' ? push : {};
  return { ...options, allow: [...(options.allow ?? []), ...allowed] };
}

/** Opens the database of the flags. A worker may use it through the storage process. */
async function storageFor(settings: Settings, logger: Logger): Promise<TaskStorage> {
  if (settings.text('workers') !== undefined) {
    const { workerStorage } = await import('parley-a2a/workers');
    const storage = workerStorage();
    if (storage !== undefined) return storage;
  }
  const url = databaseUrl(settings);
  return openStorage(url, { logger, backends: await backendsOf(url) });
}

/** Returns the flags and variables as a source of the settings of every server. */
function sourceOf(settings: Settings): SettingSource {
  return {
    nameOf: settingName,
    textsOf: (name) => {
      const { flag, form } = SERVER_SETTINGS[name];
      if (flag === undefined) return variableTexts(name);
      return form === 'boolean' ? [String(settings.isOn(flag))] : settings.list(flag);
    },
    separated: '',
  };
}

/**
 * Returns the authenticator for the credentials and tokens of the settings; `undefined` without them.
 * @throws OptionsError if a file is invalid.
 */
async function authenticatorOf(
  { credentials, tokens }: Pick<ServerConfig, 'credentials' | 'tokens'>,
  logger: Logger,
): Promise<Authenticator | undefined> {
  const others: Authenticator[] = [];
  if (tokens !== undefined) {
    const { tokenAuthenticator } = await import('parley-a2a/auth');
    others.push(tokenAuthenticator(tokens, { logger }));
  }
  return credentialAuthenticator(credentials, { logger, others });
}

const LISTED = ['public', 'extended', 'never'] as const;

/** Returns the bindings of the flags, in addition to those of HTTP. */
async function bindingsOf(settings: Settings): Promise<NonNullable<A2AHostOptions['bindings']>> {
  const word = settings.text('listed');
  const listed = LISTED.find((one) => one === word);
  if (word !== listed) throw usageError(`--listed is ${LISTED.join(', ')}, not "${word}"`);
  const listing = listed === undefined ? {} : { listed };
  return Promise.all(chosenBindings(settings).map((name) => SERVED_BINDINGS[name].load(settings, listing)));
}
