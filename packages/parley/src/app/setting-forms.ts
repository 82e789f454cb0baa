import { type ApiKey, apiKeyProblems } from '../auth/schemes/api-key.js';
import { CERTIFICATE_FORMATS } from '../auth/schemes/forwarded-certificate.js';
import { keyPlaceOf } from '../auth/schemes/key-places.js';
import { urlFault } from '../auth/tokens/token-documents.js';
import { ASYMMETRIC_ALGORITHMS } from '../auth/tokens/token-options.js';
import { Destinations } from '../net/destinations.js';
import { publicHosts } from '../net/public-hosts.js';
import { trustedProxies } from '../net/trusted-proxy.js';
import { isOption } from '../options/check-options.js';
import { isSecretKey } from '../secrets/secret-keys.js';
import { LOG_LEVELS } from '../telemetry/text-logger.js';
import { parseRate } from './limits/rate-limit-options.js';
import { type TokenBudgetOptions, tokenBudgetSchema } from './limits/token-budget-options.js';
import { corsSchema } from './middleware/cors-options.js';

/** The values of `CredentialConfig.require`. */
export const REQUIRED_CREDENTIALS = ['any', 'all', 'all-users'] as const;

/** The way from the text of a setting to its value. */
interface Form<Value> {
  /** The value of the entries of a list, or of one text; `undefined` if they are wrong. */
  parse(texts: readonly string[]): Value | undefined;
  /** A correct text, for users. */
  readonly right: string;
}

function one<Value>(parse: (text: string) => Value | undefined, right: string): Form<Value> {
  return { parse: ([text = '']) => parse(text), right };
}

/** A list without empty entries, for which `check` does not throw. */
function many(check: (entries: readonly string[]) => unknown, right: string): Form<readonly string[]> {
  const parse = (entries: readonly string[]) => {
    try {
      check(entries);
      return entries.includes('') ? undefined : entries;
    } catch {
      return undefined;
    }
  };
  return { parse, right };
}

function every(isRight: (entry: string) => boolean, right: string): Form<readonly string[]> {
  return { parse: (entries) => (entries.every(isRight) ? entries : undefined), right };
}

/** A text that an expression matches. */
function matching(expression: RegExp, right: string): Form<string> {
  return one((text) => (expression.test(text) ? text : undefined), right);
}

function wordOf<const Words extends readonly string[]>(words: Words): Form<Words[number]> {
  return one((text): Words[number] | undefined => words.find((word) => word === text), `one of ${words.join(', ')}`);
}

/** The forms of settings. */
export const SETTING_FORMS = {
  text: matching(/./s, 'a text'),
  path: matching(/./s, 'a path'),
  list: every((entry) => entry !== '', 'a list without empty entries'),
  boolean: one((text) => (text === 'true' ? true : text === 'false' ? false : undefined), 'true or false'),
  port: one(portOf, 'a number from 0 to 65535'),
  portOrShared: one(
    (text) => (text === 'off' || text === 'shared' ? text : portOf(text)),
    'a number from 0 to 65535, shared, or off',
  ),
  address: matching(/^[^/?#@\s]+:\d{1,5}$/, 'a host and a port, such as agents.example.com:443'),
  host: one((text) => {
    const bare = text.replace(/^\[(.+)\]$/, '$1');
    return /^[A-Za-z0-9._:%-]+$/.test(bare) ? bare : undefined;
  }, 'a host name or an IP address such as 127.0.0.1 or 0.0.0.0'),
  database: matching(/^[a-z][a-z0-9+.-]*:/i, 'a url such as sqlite:./data/parley.db or memory:'),
  publicUrl: one((text) => {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || /[?#@]/.test(text)) return undefined;
    return url.href.replace(/(?<!\/)\/+$/, '');
  }, 'an http or https url without query, such as https://example.com'),
  // The cache reads the rest of the url, and names what is wrong with it.
  redis: matching(/^rediss?:\/\/[^/?#]/, 'a url such as redis://localhost:6379'),
  webUrl: one(
    (text) => (urlFault(text, true) === undefined ? text : undefined),
    'an https url; {authPlainHttp}=true allows http',
  ),
  proxies: many(trustedProxies, 'addresses, ranges such as 10.0.0.0/8, or loopback'),
  hosts: many(publicHosts, 'hosts such as agents.example.com'),
  destinations: many((allow) => new Destinations({ allow }), 'hosts, addresses or ranges such as 10.0.0.0/8'),
  origins: {
    parse: (entries: readonly string[]): '*' | readonly string[] | undefined => {
      const origins = entries.length === 1 && entries[0] === '*' ? '*' : entries;
      return isOption(corsSchema, origins) ? origins : undefined;
    },
    right: 'origins such as https://page.example, or *',
  },
  secretKeys: every(isSecretKey, 'keys of 32 bytes in base64 or hex'),
  /** Seconds become ms. */
  seconds: one(
    (text) => (/^\d{1,4}(\.\d+)?$/.test(text) && Number(text) <= 3600 ? Number(text) * 1000 : undefined),
    'a number of seconds from 0 to 3600',
  ),
  ttl: one(
    (text) => (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 86_400 ? Number(text) : undefined),
    'a number of seconds from 1 to 86400',
  ),
  logLevel: one((text) => LOG_LEVELS.find((level) => level === text.toLowerCase()), `one of ${LOG_LEVELS.join(', ')}`),
  rate: one(parseRate, 'requests in a time, such as 100/60s'),
  rateOrOff: one(
    (text) => (text === 'off' ? (false as const) : parseRate(text)),
    'requests in a time, such as 100/60s, or off',
  ),
  tokenBudget: {
    parse: (entries: readonly string[]): TokenBudgetOptions | undefined => {
      const budget = Object.fromEntries(entries.map(budgetOf));
      return isOption(tokenBudgetSchema, budget) && Object.keys(budget).length === entries.length ? budget : undefined;
    },
    right: 'turn, task or ownerPerDay, each once, with a number such as turn=10000',
  },
  apiKeys: {
    parse: (entries: readonly string[]): readonly ApiKey[] | undefined => {
      const keys = entries.map(apiKeyOf);
      return keys.flatMap(apiKeyProblems).length > 0 ? undefined : keys;
    },
    right: 'subject=key or subject=sha256:hash',
  },
  keyPlace: one(keyPlaceOf, 'a place such as header:X-Agent-Key, query:key, cookie:sid or bearer'),
  certFormat: wordOf(CERTIFICATE_FORMATS),
  required: wordOf(REQUIRED_CREDENTIALS),
  algorithms: every(
    (entry) => ASYMMETRIC_ALGORITHMS.some((name) => name === entry),
    `some of ${ASYMMETRIC_ALGORITHMS.join(', ')}`,
  ),
  scopes: {
    parse: (entries: readonly string[]) => {
      const scopes = entries.flatMap((entry) => entry.split(/\s+/)).filter((scope) => scope !== '');
      return scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope)) ? scopes : undefined;
    },
    right: 'scopes, separated by blanks',
  },
} satisfies Readonly<Record<string, Form<unknown>>>;

/** The name of a form. */
export type SettingForm = keyof typeof SETTING_FORMS;

/** The value of a form. */
export type FormValue<Name extends SettingForm> =
  (typeof SETTING_FORMS)[Name] extends Form<infer Value> ? Value : never;

function portOf(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** `turn=10000`. */
function budgetOf(entry: string): readonly [string, number] {
  const [name = '', tokens = '', ...rest] = entry.split('=').map((part) => part.trim());
  return [name, /^\d+$/.test(tokens) && rest.length === 0 ? Number(tokens) : Number.NaN];
}

/** `ada=key` or `bob=sha256:hash`. */
function apiKeyOf(entry: string): ApiKey {
  const mark = entry.indexOf('=');
  const subject = entry.slice(0, Math.max(mark, 0)).trim();
  const value = entry.slice(mark + 1).trim();
  return value.startsWith('sha256:') ? { subject, sha256: value.slice(7) } : { subject, key: value };
}
