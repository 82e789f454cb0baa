import { type Logger, textLogger } from 'parley-a2a';
import { type A2AHostOptions, createA2AHost, isLocalHost, parseRate } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import type { Invocation } from '../command-line/invocation.js';
import { backendsOf } from '../database/backends.js';
import { usageError } from '../failure/cli-error.js';
import { needPackagesOf } from '../failure/needed-packages.js';
import type { Settings } from '../settings/settings.js';
import { credentialOptionsOf, oneOf } from './credential-flags.js';
import { listening, portOf, tellListening, untilStopped } from './listening.js';
import type { ModuleAgent } from './module-agent.js';
import { type OperatorFiles, operatorFiles } from './operator-files.js';

/** Serves one or several agents with the options of the flags. */
export async function serveAgents({ settings, output }: Invocation, source: ModuleAgent): Promise<number> {
  const logger = loggerFor(settings.isOn('quiet') ? 'error' : settings.isOn('debug') ? 'debug' : 'info');
  const databaseUrl = settings.text('database') ?? process.env.DATABASE_URL ?? 'memory:';
  const storage = await openStorage(databaseUrl, { logger, backends: await backendsOf(databaseUrl) });
  const name = settings.text('name');
  const description = settings.text('description');
  const publicUrl = settings.text('public-url');
  const rateLimit = rateLimitOf(settings);
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
    const credentials = await credentialOptionsOf(settings, logger);
    const place = { port: portOf(settings.text('port')), host: settings.text('host') ?? '127.0.0.1' };
    const host = createA2AHost({
      openapi: true,
      // With a public url a proxy leads other machines here.
      console: isLocalHost(place.host) && publicUrl === undefined,
      ...('host' in source && source.host),
      agents,
      storage,
      logger,
      ...credentials,
      ...files,
      bindings: [...(('host' in source && source.host.bindings) || []), ...(await bindingsOf(settings))],
      allowAnonymous: settings.isOn('allow-anonymous'),
      ...(rateLimit !== undefined && { rateLimit }),
      ...(publicUrl !== undefined && { url: publicUrl }),
    });
    const drainMs = settings.duration('drain') ?? 0;
    const { url } = await listening(host.listen(place.port, place.host), place);
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

/** The rates of the flags; `undefined` if none is left. */
function rateLimitOf(settings: Settings): A2AHostOptions['rateLimit'] {
  const both = rateOf('rate-limit', settings) || undefined;
  const perAddress = rateOf('rate-limit-address', settings);
  const perPrincipal = rateOf('rate-limit-user', settings);
  if (!both && !perAddress && !perPrincipal) return undefined;
  return {
    ...both,
    ...(perAddress !== undefined && { perAddress }),
    ...(perPrincipal !== undefined && { perPrincipal }),
  };
}

/** A rate, or false for `off`. */
function rateOf(flag: 'rate-limit' | 'rate-limit-address' | 'rate-limit-user', settings: Settings) {
  const text = settings.text(flag);
  if (text === 'off') return false;
  const rate = text === undefined ? undefined : parseRate(text);
  if (text !== undefined && rate === undefined)
    throw usageError(`--${flag} is a number of requests in a time, such as 100/60s, not "${text}"`);
  return rate;
}

type Bindings = NonNullable<A2AHostOptions['bindings']>;

/** The bindings that flags ask for, beside those of HTTP. */
async function bindingsOf(settings: Settings): Promise<Bindings> {
  const bindings: Bindings[number][] = [];
  const port = settings.text('grpc');
  const listed = oneOf('listed', ['public', 'extended', 'never'], settings);
  const listing = listed === undefined ? {} : { listed };
  if (port !== undefined) {
    needPackagesOf('gRPC');
    const { grpcBinding } = await import('parley-a2a-grpc');
    bindings.push(grpcBinding({ port: port === 'shared' ? port : portOf(port, 'grpc'), ...listing }));
  }
  if (settings.isOn('capnweb')) {
    const { capnwebBinding } = await import('parley-a2a-capnweb');
    bindings.push(capnwebBinding(listing));
  }
  return bindings;
}

function loggerFor(level: 'error' | 'info' | 'debug'): Logger {
  return textLogger({ level });
}
