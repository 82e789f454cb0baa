import { closestName } from '../model/closest-name.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { credentialsOf } from './credential-config.js';
import type { RateLimitOptions } from './limits/rate-limit-options.js';
import type { Rate } from './limits/rate-limiter.js';
import {
  CREDENTIAL_SETTINGS,
  PLAIN_SETTINGS,
  RATE_SETTINGS,
  SERVER_SETTINGS,
  type ServerConfig,
  type ServerSetting,
  TOKEN_SETTINGS,
} from './server-settings.js';
import { definedOf, SettingReader, type SettingSource, type SettingValues } from './setting-reader.js';
import { tokensOf } from './token-config.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of a ready-made server from environment variables; an empty one counts as not set. `known` are
 * names beginning with `A2A_` or `PARLEY_` that the application reads itself. Other tools use the prefix `A2A_` too: an
 * unknown name with it becomes a warning.
 * @throws OptionsError naming every wrong variable and every unknown `PARLEY_` variable, with what would be right.
 */
export function readServerConfig(env: Environment, known: readonly string[] = []): ServerConfig {
  if (Object(env) !== env) refuseArgument('readServerConfig', 'the variables of the environment', env);
  const names = [...Object.values(SERVER_SETTINGS).map(({ variable }) => variable), ...known];
  const reader = new SettingReader(variablesOf(env), unknownNames(env, 'PARLEY_', names));
  const config = configOf(reader);
  reader.check('Environment');
  return { ...config, warnings: unknownNames(env, 'A2A_', names) };
}

/**
 * Reads the settings of a ready-made server that a command line gives.
 * @throws OptionsError naming every wrong setting, with what would be right. It begins with the subject.
 */
export function readServerSettings(subject: string, source: SettingSource): Omit<ServerConfig, 'warnings'> {
  if (typeof source?.textsOf !== 'function') refuseArgument('readServerSettings', 'a source of settings', source);
  const reader = new SettingReader(source);
  const config = configOf(reader);
  reader.check(subject);
  return config;
}

function configOf(reader: SettingReader): Omit<ServerConfig, 'warnings'> {
  const plain = definedOf(reader.read(PLAIN_SETTINGS));
  const rateLimit = rateLimitOf(reader.read(RATE_SETTINGS));
  const credentials = credentialsOf(reader.read(CREDENTIAL_SETTINGS), reader);
  const tokens = tokensOf(reader.read(TOKEN_SETTINGS), reader);
  const forwarded = credentials.credentials?.forwardedCertificates;
  return {
    trustProxy: [],
    pushAllow: [],
    ...plain,
    ...(rateLimit !== undefined && { rateLimit }),
    ...credentials,
    ...(tokens && { tokens: { ...tokens, ...(forwarded && { forwarded }) } }),
  };
}

function variablesOf(env: Environment): SettingSource {
  const nameOf: SettingSource['nameOf'] = (name) => SERVER_SETTINGS[name].variable;
  return {
    nameOf,
    textsOf: (name) => {
      const text = env[nameOf(name)]?.trim();
      if (text === undefined || text === '') return [];
      const { repeats }: ServerSetting = SERVER_SETTINGS[name];
      return repeats ? text.split(',').map((entry) => entry.trim()) : [text];
    },
    separated: ', separated by commas',
  };
}

/** The rates of a host; `undefined` if no rate is left. */
function rateLimitOf({
  rateLimit,
  rateLimitAddress: perAddress,
  rateLimitUser: perPrincipal,
}: SettingValues<typeof RATE_SETTINGS>): Rate | RateLimitOptions | undefined {
  if (perAddress === undefined && perPrincipal === undefined) return rateLimit;
  if (rateLimit === undefined && !perAddress && !perPrincipal) return undefined;
  return { ...rateLimit, ...definedOf({ perAddress, perPrincipal }) };
}

function unknownNames(env: Environment, prefix: string, known: readonly string[]): string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.includes(name));
  return unknown.map((name) => {
    const meant = closestName(name, known);
    return `${name} is no setting of this server${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
  });
}
