import { randomBytes } from 'node:crypto';
import { type Logger, type LogLevel, OptionsError, printableText, StorageError, textLogger } from 'parley-a2a';
import { tokenAuthenticator } from 'parley-a2a/auth';
import { createA2AHost, credentialAuthenticator, isLocalHost, openAuditFile, readCardKeys } from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { openStorage } from 'parley-a2a/storage';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { pinoLogger } from 'parley-a2a-pino';
import { postgresBackend } from 'parley-a2a-postgres';
import { openRedisCache, redisBackend } from 'parley-a2a-redis';
import { systemClock } from './agent-clock.js';
import { complianceAgent } from './compliance-agent.js';
import { echoAgent } from './echo-agent.js';
import { readExampleConfig } from './example-config.js';
import { helloAgent } from './hello-agent.js';
import { spec03Agent, specAgent } from './spec-agent.js';

/** Webhooks of this machine. */
const LOOPBACK = ['localhost', '*.localhost', '127.0.0.0/8', '::1'];

/** The remedies for an address that the server cannot listen on, by the code of the error. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'stop what uses the port, or set PORT',
  EACCES: 'set PORT to a port that this user may take',
  EADDRNOTAVAIL: 'set HOST to an address of this machine',
  ENOTFOUND: 'set HOST to an address of this machine',
};

try {
  await serve();
} catch (error) {
  console.error(`Cannot start: ${printableText(explain(error))}`);
  process.exit(1);
}

/** Serves the example agents until a signal asks to stop. */
async function serve(): Promise<void> {
  const config = readExampleConfig(process.env);
  const logger = loggerFor(config.logLevel);
  for (const warning of config.warnings) logger.warn(warning);
  const storage = await openStorage(config.databaseUrl, { logger, backends: [postgresBackend, redisBackend] });
  const tools = { clock: systemClock, streamingTimeoutMs: config.streamingTimeoutMs };
  const compliance = complianceAgent(tools);
  const cache = config.redisUrl === undefined ? undefined : await openRedisCache({ url: config.redisUrl, logger });
  const { auditFile } = config;
  const audit = auditFile === undefined ? undefined : await openAuditFile({ path: auditFile, reopenAtSighup: true });
  const isTestBed = isLocalHost(config.host);
  const others = config.tokens === undefined ? [] : [tokenAuthenticator(config.tokens, { logger })];
  const authenticator = await credentialAuthenticator(config.credentials, { logger, others });
  const token = config.operator && isTestBed ? randomBytes(32).toString('base64url') : undefined;
  const host = createA2AHost({
    agents: {
      '/': compliance,
      '/tck': { sameAs: '/', versions: ['1.0'] },
      '/echo': echoAgent(),
      '/hello': helloAgent(),
      '/spec': specAgent(tools, authenticator),
      '/spec03': spec03Agent(tools),
    },
    storage,
    bindings: [
      ...(config.grpcPort === 'off'
        ? []
        : [
            grpcBinding({
              agent: '/',
              orAnotherPort: config.grpcPort === undefined,
              legacyUrls: true,
              // Callers of this agent look for all bindings of the protocol in its card.
              listed: 'public',
              ...(config.grpcPort !== undefined && { port: config.grpcPort }),
              ...(config.grpcAddress !== undefined && { address: config.grpcAddress }),
            }),
          ]),
      capnwebBinding(),
    ],
    // Callers of this interface expect to call from any page and to change the cache.
    baseServer: {
      agent: '/hello',
      cors: '*',
      cacheChanges: true,
      cacheTtlSeconds: config.cacheTtlSeconds,
      ...(cache && { cache }),
    },
    logger,
    trustProxy: config.trustProxy,
    ...(config.rateLimit !== undefined && { rateLimit: config.rateLimit }),
    ...(config.tokenBudget && { tokenBudget: config.tokenBudget }),
    ...(config.cardKeys !== undefined && { cardSigning: { keys: await readCardKeys(config.cardKeys) } }),
    ...(audit && { audit }),
    ...(authenticator && { authenticator }),
    ...(config.tls && { tls: config.tls }),
    ...(config.publicHosts !== undefined && { publicHosts: config.publicHosts }),
    allowAnonymous: config.allowAnonymous,
    push: { allow: [...config.pushAllow, ...(isTestBed ? LOOPBACK : [])] },
    openapi: true,
    // In a browser of this machine only. With a public url a proxy leads other machines here.
    console: isTestBed && config.publicUrl === undefined,
    ...(config.publicUrl !== undefined && { url: config.publicUrl }),
    ...(config.corsOrigins !== undefined && { cors: config.corsOrigins }),
    ...(config.secretKeys !== undefined && { secretKeys: config.secretKeys }),
    ...(config.operator && { operator: operatorApi(token === undefined ? {} : { token }) }),
  });
  const { url } = await host.listen(config.port, config.host);
  if (token !== undefined) logger.info(`the token of this launch for ${url}/operator/v1 is ${token}`);
  if (isTestBed)
    logger.warn('webhooks on loopback addresses are allowed, because this server listens on loopback only');

  // Registered before the server reports that it listens, because a signal may follow at once.
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info('stopping', { signal });
    await host.close({ drainMs: config.drainMs });
    await storage.close();
    await cache?.close();
    await audit?.close();
    logger.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  for (const [path, card] of Object.entries(host.agentCards)) {
    logger.info(`${card.name} at ${url}${path}`, {
      interfaces: host.interfaces[path]?.map((one) => `${one.protocolBinding} ${one.protocolVersion} ${one.url}`),
    });
  }
  const { host: address, publicUrl, databaseUrl } = config;
  const port = publicUrl === undefined ? Number(new URL(url).port) : config.port;
  // Without user, password and options.
  const at = URL.parse(databaseUrl);
  const shown = at?.host ? `${at.protocol}//${at.host}${at.pathname}` : databaseUrl;
  logger.info(`listening on ${url}`, { address, port, storage: shown, durability: storage.durability });
}

/** Text for a terminal, JSON for log collectors. */
function loggerFor(level: LogLevel): Logger {
  if (!process.stdout.isTTY) return pinoLogger({ level });
  return textLogger({ write: (line) => process.stdout.write(line), now: Date.now, level });
}

/** One line that says what to change. With LOG_LEVEL=debug it adds the stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const expected = error instanceof OptionsError || error instanceof StorageError || 'code' in error;
  if (!expected || process.env.LOG_LEVEL === 'debug') return error.stack ?? error.message;
  const { syscall, code = '', message } = (error.cause ?? error) as NodeJS.ErrnoException;
  const remedy = syscall === 'listen' || syscall === 'getaddrinfo' ? REMEDIES[code] : undefined;
  return remedy === undefined ? error.message : `${message}: ${remedy}`;
}
