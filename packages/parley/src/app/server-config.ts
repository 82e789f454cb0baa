import { OptionsError } from '../errors/options-error.js';
import { closestName } from '../model/closest-name.js';
import { Destinations } from '../net/destinations.js';
import { publicHosts } from '../net/public-hosts.js';
import { trustedProxies } from '../net/trusted-proxy.js';
import { isOption } from '../options/check-options.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { isSecretKey } from '../secrets/secret-keys.js';
import { printableUrl } from '../telemetry/printable-url.js';
import { isSecretName } from '../telemetry/redaction.js';
import { LOG_LEVELS, type LogLevel } from '../telemetry/text-logger.js';
import { CREDENTIAL_NAMES, type CredentialConfig, readCredentialConfig } from './credential-config.js';
import { parseRate, type RateLimitOptions } from './limits/rate-limit-options.js';
import type { Rate } from './limits/rate-limiter.js';
import { corsSchema } from './middleware/cors.js';
import type { TlsOptions } from './options/tls-options.js';
import { readTokenConfig, TOKEN_NAMES, type TokenConfig } from './token-config.js';
import { booleanOf, listOf } from './variables.js';

/** The settings of a ready-made server. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  /** The port of gRPC; absent: that after `port`. */
  readonly grpcPort?: GrpcPort;
  /** `host:port` of gRPC for cards, if it differs from the bound address. */
  readonly grpcAddress?: string;
  /** The storage of tasks. */
  readonly databaseUrl: string;
  /** The base url for cards, if it differs from the bound address. */
  readonly publicUrl?: string;
  /** For `trustProxy` of a server. */
  readonly trustProxy: readonly string[];
  /** For `publicHosts` of a server; absent: not listed. */
  readonly publicHosts?: readonly string[];
  /** For `push.allow` of a server. */
  readonly pushAllow: readonly string[];
  /** True if the server may listen beyond loopback without authentication. */
  readonly allowAnonymous: boolean;
  /** Files for `readCardKeys` and `cardSigning` of a server; absent: cards are not signed. */
  readonly cardKeys?: readonly string[];
  /** For `rateLimit` of a server; absent: no limit. */
  readonly rateLimit?: Rate | RateLimitOptions;
  /** For `cors` of a server; absent: no pages of other origins. */
  readonly corsOrigins?: '*' | readonly string[];
  /** For `secretKeys` of a server; absent: nothing is encrypted. */
  readonly secretKeys?: readonly string[];
  /** For `close` of a server. */
  readonly drainMs: number;
  /** The Redis in which a base server keeps answers; absent: in memory. */
  readonly redisUrl?: string;
  /** For `baseServer` of a server. */
  readonly cacheTtlSeconds: number;
  /** The file of audit records; absent: no records. */
  readonly auditFile?: string;
  /** The credentials for `credentialAuthenticator`; absent: none. */
  readonly credentials?: CredentialConfig;
  /** For `tls` of a server; absent: plain HTTP. */
  readonly tls?: TlsOptions;
  /** The tokens for `tokenAuthenticator`; absent: none. */
  readonly tokens?: TokenConfig;
  readonly logLevel: LogLevel;
  /** One sentence for each unknown `A2A_` variable, with the closest setting. Log them at start. */
  readonly warnings: readonly string[];
}

/** A port; that of HTTP; or no gRPC. */
type GrpcPort = number | 'shared' | 'off';

type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = [
  'PORT',
  'GRPC_PORT',
  'GRPC_ADDRESS',
  'HOST',
  'DATABASE_URL',
  'A2A_PUBLIC_URL',
  'A2A_TRUST_PROXY',
  'A2A_PUBLIC_HOSTS',
  'A2A_PUSH_ALLOW',
  'A2A_ALLOW_ANONYMOUS',
  'A2A_RATE_LIMIT',
  'A2A_RATE_LIMIT_ADDRESS',
  'A2A_RATE_LIMIT_USER',
  'A2A_CARD_KEYS',
  'A2A_CORS_ORIGINS',
  'A2A_DRAIN_SECONDS',
  'A2A_REDIS_URL',
  'A2A_SECRET_KEYS',
  'A2A_CACHE_TTL_SECONDS',
  'A2A_AUDIT_FILE',
  'LOG_LEVEL',
  ...CREDENTIAL_NAMES,
  ...TOKEN_NAMES,
] as const;

/**
 * Reads the settings of a ready-made server from environment variables; an empty one counts as not set. `known` are
 * names beginning with `A2A_` or `PARLEY_` that the application reads itself. Other tools use the prefix `A2A_` too: an
 * unknown name with it becomes a warning.
 * @throws OptionsError naming every wrong variable and every unknown `PARLEY_` variable, with what would be right.
 */
export function readServerConfig(env: Environment, known: readonly string[] = []): ServerConfig {
  if (Object(env) !== env) refuseArgument('readServerConfig', 'the variables of the environment', env);
  const settings = [...NAMES, ...known];
  const problems = unknownNames(env, 'PARLEY_', settings);
  const read = <T>(name: (typeof NAMES)[number], parse: (text: string) => T | undefined, right: string) => {
    const text = env[name]?.trim();
    if (text === undefined || text === '') return undefined;
    const value = parse(text);
    const shown = isSecretName(name)
      ? ''
      : `="${name.endsWith('_URL') || /@|\/\//.test(text) ? printableUrl(text) : text}"`;
    if (value === undefined) problems.push(`${name}${shown} must be ${right}`);
    return value;
  };
  const port = read('PORT', portOf, 'a number from 0 to 65535');
  const grpcPort = read('GRPC_PORT', grpcPortOf, 'a number from 0 to 65535, shared, or off');
  const grpcAddress = read('GRPC_ADDRESS', grpcAddressOf, 'a host and a port, such as agents.example.com:443');
  const host = read('HOST', hostOf, 'a host name or an IP address such as 127.0.0.1 or 0.0.0.0');
  const databaseUrl = read('DATABASE_URL', databaseOf, 'a url such as sqlite:./data/parley.db or memory:');
  const publicUrl = read(
    'A2A_PUBLIC_URL',
    publicUrlOf,
    'an http or https url without query, such as https://example.com',
  );
  const trustProxy = read(
    'A2A_TRUST_PROXY',
    (text) => listOf(text, trustedProxies),
    'addresses, ranges such as 10.0.0.0/8, or loopback, separated by commas',
  );
  const hosts = read(
    'A2A_PUBLIC_HOSTS',
    (text) => listOf(text, publicHosts),
    'hosts such as agents.example.com, separated by commas',
  );
  const pushAllow = read(
    'A2A_PUSH_ALLOW',
    (text) => listOf(text, (allow) => new Destinations({ allow })),
    'hosts, addresses or ranges such as 10.0.0.0/8, separated by commas',
  );
  const allowAnonymous = read('A2A_ALLOW_ANONYMOUS', booleanOf, 'true or false');
  const cardKeys = read('A2A_CARD_KEYS', (text) => listOf(text), 'files of keys, separated by commas');
  const both = read('A2A_RATE_LIMIT', parseRate, 'requests in a time, such as 100/60s');
  const perAddress = read('A2A_RATE_LIMIT_ADDRESS', rateOrOff, 'requests in a time, such as 100/60s, or off');
  const perPrincipal = read('A2A_RATE_LIMIT_USER', rateOrOff, 'requests in a time, such as 100/60s, or off');
  const rateLimit = rateLimitOf({ both, perAddress, perPrincipal });
  const corsOrigins = read(
    'A2A_CORS_ORIGINS',
    originsOf,
    'origins such as https://page.example, separated by commas, or *',
  );
  const drainSeconds = read('A2A_DRAIN_SECONDS', secondsOf, 'a number of seconds from 0 to 3600');
  const redisUrl = read('A2A_REDIS_URL', redisOf, 'a url such as redis://localhost:6379');
  const secretKeys = read('A2A_SECRET_KEYS', keysOf, 'keys of 32 bytes in base64 or hex, separated by commas');
  const cacheTtlSeconds = read('A2A_CACHE_TTL_SECONDS', ttlOf, 'a number of seconds from 1 to 86400');
  const auditFile = read('A2A_AUDIT_FILE', (text) => text, 'a path');
  const logLevel = read('LOG_LEVEL', levelOf, `one of ${LOG_LEVELS.join(', ')}`);
  const credentials = readCredentialConfig(read, problems);
  const tokens = readTokenConfig(read, problems);
  const forwarded = credentials.credentials?.forwardedCertificates;
  if (problems.length > 0) throw new OptionsError('Environment', problems);
  return {
    host: host ?? '127.0.0.1',
    port: port ?? 8080,
    ...(grpcPort !== undefined && { grpcPort }),
    ...(grpcAddress !== undefined && { grpcAddress }),
    databaseUrl: databaseUrl ?? 'sqlite:./data/parley.db',
    ...(publicUrl !== undefined && { publicUrl }),
    trustProxy: trustProxy ?? [],
    ...(hosts !== undefined && { publicHosts: hosts }),
    pushAllow: pushAllow ?? [],
    allowAnonymous: allowAnonymous ?? false,
    ...(cardKeys !== undefined && { cardKeys }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(corsOrigins !== undefined && { corsOrigins }),
    ...(secretKeys !== undefined && { secretKeys }),
    drainMs: (drainSeconds ?? 0) * 1000,
    ...(redisUrl !== undefined && { redisUrl }),
    cacheTtlSeconds: cacheTtlSeconds ?? 300,
    ...(auditFile !== undefined && { auditFile }),
    ...credentials,
    ...(tokens && { tokens: { ...tokens, ...(forwarded && { forwarded }) } }),
    logLevel: logLevel ?? 'info',
    warnings: unknownNames(env, 'A2A_', settings),
  };
}

/** A rate, or false for `off`. */
function rateOrOff(text: string): Rate | false | undefined {
  return text === 'off' ? false : parseRate(text);
}

/** The rates of a host; `undefined` if no rate is left. */
function rateLimitOf({
  both,
  perAddress,
  perPrincipal,
}: {
  readonly both: Rate | undefined;
  readonly perAddress: Rate | false | undefined;
  readonly perPrincipal: Rate | false | undefined;
}): Rate | RateLimitOptions | undefined {
  if (perAddress === undefined && perPrincipal === undefined) return both;
  if (both === undefined && !perAddress && !perPrincipal) return undefined;
  return {
    ...both,
    ...(perAddress !== undefined && { perAddress }),
    ...(perPrincipal !== undefined && { perPrincipal }),
  };
}

function unknownNames(env: Environment, prefix: string, known: readonly string[]): string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.includes(name));
  return unknown.map((name) => {
    const meant = closestName(name, known);
    return `${name} is no setting of this server${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
  });
}

function portOf(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function grpcPortOf(text: string): GrpcPort | undefined {
  return text === 'off' || text === 'shared' ? text : portOf(text);
}

function grpcAddressOf(text: string): string | undefined {
  return /^[^/?#@\s]+:\d{1,5}$/.test(text) ? text : undefined;
}

function hostOf(text: string): string | undefined {
  const bare = text.replace(/^\[(.+)\]$/, '$1');
  return /^[A-Za-z0-9._:%-]+$/.test(bare) ? bare : undefined;
}

function databaseOf(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : undefined;
}

function publicUrlOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#@]/.test(text)) return undefined;
  return url.href.replace(/(?<!\/)\/+$/, '');
}

function originsOf(text: string): '*' | readonly string[] | undefined {
  const origins = text === '*' ? text : listOf(text);
  return isOption(corsSchema, origins) ? origins : undefined;
}

function keysOf(text: string): readonly string[] | undefined {
  const keys = listOf(text);
  return keys?.every(isSecretKey) ? keys : undefined;
}

function secondsOf(text: string): number | undefined {
  return /^\d{1,4}(\.\d+)?$/.test(text) && Number(text) <= 3600 ? Number(text) : undefined;
}

function redisOf(text: string): string | undefined {
  // The cache reads the rest of the url, and names what is wrong with it.
  return /^rediss?:\/\/[^/?#]/.test(text) ? text : undefined;
}

function ttlOf(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 86_400 ? Number(text) : undefined;
}

function levelOf(text: string): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === text.toLowerCase());
}
