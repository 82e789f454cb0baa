import type { LogLevel } from '../telemetry/text-logger.js';
import type { CredentialConfig } from './credential-config.js';
import type { RateLimitOptions } from './limits/rate-limit-options.js';
import type { Rate } from './limits/rate-limiter.js';
import type { TokenBudgetOptions } from './limits/token-budget-options.js';
import type { TlsOptions } from './options/tls-options.js';
import type { SettingForm } from './setting-forms.js';
import type { TokenConfig } from './token-config.js';

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
  /** True if the server has the operator API. */
  readonly operator: boolean;
  /** For `tokenBudget` of a server; absent: no limit. */
  readonly tokenBudget?: TokenBudgetOptions;
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

/** The variable of a setting, the form of its text, and what else users learn about it. */
export interface ServerSetting<
  Form extends SettingForm = SettingForm,
  Flag extends string = string,
  Default extends string = string,
> extends SettingFacts<Flag, Default> {
  /** The environment variable. */
  readonly variable: string;
  readonly form: Form;
}

interface SettingFacts<Flag extends string, Default extends string> {
  /** True for a list. A variable separates its entries by commas, and a flag repeats. */
  readonly repeats?: true;
  /** Its meaning in Markdown, with links from `docs/`. `{port}` stands for the variable or the flag of `port`. */
  readonly help: string;
  /** The text of the default value. */
  readonly default?: Default;
  /** The effect of no value, if there is no default. Absent: none. */
  readonly unset?: string;
  /** The flag of `parley serve`, without dashes. Absent: none. */
  readonly flag?: Flag;
  /** The name of its value in the help of the flag. */
  readonly value?: string;
  /** True if the value is a credential. */
  readonly secret?: true;
}

function setting<Form extends SettingForm, Flag extends string = never, Default extends string = never>(
  variable: string,
  form: Form,
  facts: SettingFacts<Flag, Default>,
): ServerSetting<Form, Flag, Default> {
  return { variable, form, ...facts };
}

/** Members of `ServerConfig` that several settings make up, or none. */
type Composed = 'rateLimit' | 'credentials' | 'tls' | 'tokens' | 'warnings';

/** Settings that are members of `ServerConfig` under the same name. */
export const PLAIN_SETTINGS = {
  host: setting('HOST', 'host', { default: '127.0.0.1', flag: 'host', value: 'host', help: 'address to listen on' }),
  port: setting('PORT', 'port', {
    default: '8080',
    flag: 'port',
    value: 'port',
    help: 'port to listen on; 0 takes a free one',
  }),
  grpcPort: setting('GRPC_PORT', 'portOrShared', {
    unset: 'the port after that of HTTP, or a free one if it is in use',
    help: 'port of [gRPC](grpc.md) of the agent at `/`; 0 takes a free one; `shared`: the port of HTTP; `off`: no gRPC',
  }),
  grpcAddress: setting('GRPC_ADDRESS', 'address', {
    unset: 'the address bound',
    help: '`host:port` of gRPC for the cards, such as that of a proxy',
  }),
  databaseUrl: setting('DATABASE_URL', 'database', {
    default: 'sqlite:./data/parley.db',
    help: '[storage of tasks](storage.md#addresses), such as `sqlite:./data/parley.db`, or one that processes share; `memory:?tasks=…&bytes=…` [bounds memory](storage.md#how-much-memory-keeps)',
  }),
  publicUrl: setting('A2A_PUBLIC_URL', 'publicUrl', {
    unset: 'the address bound',
    flag: 'public-url',
    value: 'url',
    help: 'base url in cards, if clients use another address than the one bound',
  }),
  trustProxy: setting('A2A_TRUST_PROXY', 'proxies', {
    repeats: true,
    help: 'trusted proxies, whose forwarded headers count: addresses, ranges such as `10.0.0.0/8`, `loopback`',
  }),
  publicHosts: setting('A2A_PUBLIC_HOSTS', 'hosts', {
    repeats: true,
    help: 'public [hosts](#hosts) of the server, such as `agents.example.com` or `agents.example.com:8443`',
  }),
  pushAllow: setting('A2A_PUSH_ALLOW', 'destinations', {
    repeats: true,
    flag: 'push-allow',
    value: 'destination',
    help: 'private [webhooks](push.md#options) that may be called: hosts, addresses, ranges such as `10.0.0.0/8:8443`',
  }),
  allowAnonymous: setting('A2A_ALLOW_ANONYMOUS', 'boolean', {
    default: 'false',
    flag: 'allow-anonymous',
    help: 'listen beyond this machine although an agent needs no credential',
  }),
  cardKeys: setting('A2A_CARD_KEYS', 'list', { repeats: true, help: 'files of keys that [sign cards](#signed-cards)' }),
  corsOrigins: setting('A2A_CORS_ORIGINS', 'origins', {
    repeats: true,
    help: 'origins whose pages may call, such as `https://page.example`, or `*`',
  }),
  secretKeys: setting('A2A_SECRET_KEYS', 'secretKeys', {
    repeats: true,
    secret: true,
    help: '[keys](#keys-for-secrets) for secrets in the storage, such as credentials of webhooks; the first one encrypts, all decrypt',
  }),
  drainMs: setting('A2A_DRAIN_SECONDS', 'seconds', {
    default: '0',
    help: 'time after SIGTERM in which requests are still answered and [`/readyz`](operations.md#stopping) fails',
  }),
  redisUrl: setting('A2A_REDIS_URL', 'redis', {
    unset: 'none: in memory',
    help: 'Redis or Valkey for the cache of [a base server](base-server.md#the-cache), such as `redis://localhost:6379`',
  }),
  cacheTtlSeconds: setting('A2A_CACHE_TTL_SECONDS', 'ttl', { default: '300', help: 'lifetime of a cached answer' }),
  auditFile: setting('A2A_AUDIT_FILE', 'path', {
    flag: 'audit-file',
    value: 'path',
    help: 'file of [audit records](audit-log.md): one of each call, refusal and repair',
  }),
  tokenBudget: setting('A2A_TOKEN_BUDGET', 'tokenBudget', {
    repeats: true,
    flag: 'token-budget',
    value: 'budget',
    help: 'tokens of models that an agent may use, by [budget](costs.md#budgets): `turn=10000`, `task=50000`, `ownerPerDay=1000000`',
  }),
  operator: setting('A2A_OPERATOR', 'boolean', {
    default: 'false',
    flag: 'operator',
    help: '[operator API](operator-api.md#of-a-ready-made-server): for users with the permission `operator`; on loopback also for a token of this launch, which the server prints',
  }),
  logLevel: setting('LOG_LEVEL', 'logLevel', { default: 'info', help: '`debug`, `info`, `warn`, `error` or `silent`' }),
} satisfies Readonly<Record<Exclude<keyof ServerConfig, Composed>, object>>;

/** The rates of callers. */
export const RATE_SETTINGS = {
  rateLimit: setting('A2A_RATE_LIMIT', 'rate', {
    flag: 'rate-limit',
    value: 'rate',
    help: '[rate](#rates) of one address and of one user, such as `100/60s`, `10/s` or `5000/1h`',
  }),
  rateLimitAddress: setting('A2A_RATE_LIMIT_ADDRESS', 'rateOrOff', {
    unset: '{rateLimit}',
    flag: 'rate-limit-address',
    value: 'rate',
    help: 'rate of one address; `off` for none',
  }),
  rateLimitUser: setting('A2A_RATE_LIMIT_USER', 'rateOrOff', {
    unset: '{rateLimit}',
    flag: 'rate-limit-user',
    value: 'rate',
    help: 'rate of one user, or of one address of anonymous callers; `off` for none',
  }),
};

/** The credentials of callers but tokens, and TLS. */
export const CREDENTIAL_SETTINGS = {
  apiKeys: setting('A2A_API_KEYS', 'apiKeys', {
    repeats: true,
    secret: true,
    help: 'API keys that callers need in {apiKeyPlace}, such as `ada=sha256:<hash>` or `bob=<key>`',
  }),
  apiKeysFile: setting('A2A_API_KEYS_FILE', 'path', {
    flag: 'api-keys-file',
    value: 'path',
    help: '[file of API keys](authentication.md#api-keys) that callers need, read again when it changes',
  }),
  apiKeyPlace: setting('A2A_API_KEY_PLACE', 'keyPlace', {
    unset: '`header:X-API-Key`',
    flag: 'api-key-place',
    value: 'place',
    help: '[place](authentication.md#api-keys) of API keys: `header:NAME`, `query:NAME`, `cookie:NAME` or `bearer`',
  }),
  basicUsersFile: setting('A2A_BASIC_USERS_FILE', 'path', {
    flag: 'basic-users-file',
    value: 'path',
    help: '[file of names and password hashes](authentication.md#names-and-passwords) that callers need, read again when it changes',
  }),
  tlsCert: setting('A2A_TLS_CERT', 'path', {
    flag: 'tls-cert',
    value: 'path',
    help: 'certificate of the server as a PEM file, read again when it changes: serve https',
  }),
  tlsKey: setting('A2A_TLS_KEY', 'path', {
    flag: 'tls-key',
    value: 'path',
    help: 'key of that certificate as a PEM file',
  }),
  tlsClientCa: setting('A2A_TLS_CLIENT_CA', 'path', {
    flag: 'tls-client-ca',
    value: 'path',
    help: 'authorities of client certificates that callers need, as a PEM file; [the common name is the user](authentication.md#certificates-of-clients)',
  }),
  clientCertProxies: setting('A2A_CLIENT_CERT_PROXIES', 'proxies', {
    repeats: true,
    flag: 'client-cert-proxy',
    value: 'address',
    help: '[proxies](authentication.md#certificates-behind-a-proxy) that tell client certificates in a header: addresses, ranges, `loopback`',
  }),
  clientCertFormat: setting('A2A_CLIENT_CERT_FORMAT', 'certFormat', {
    flag: 'client-cert-format',
    value: 'name',
    help: 'form of that header: `envoy`, `nginx` or `rfc9440`',
  }),
  authRequire: setting('A2A_AUTH_REQUIRE', 'required', {
    unset: '`any`',
    flag: 'auth-require',
    value: 'which',
    help: 'credentials that a caller needs, [of several kinds](authentication.md#several-schemes): `any`, `all` (of one user) or `all-users` (of different users)',
  }),
};

/** The tokens of callers. */
export const TOKEN_SETTINGS = {
  oidcIssuer: setting('A2A_OIDC_ISSUER', 'webUrl', {
    flag: 'oidc-issuer',
    value: 'url',
    help: 'OpenID Connect provider whose [tokens](authentication.md#tokens) callers need',
  }),
  jwtIssuer: setting('A2A_JWT_ISSUER', 'webUrl', {
    flag: 'jwt-issuer',
    value: 'url',
    help: 'issuer of tokens, if it has no discovery document; needs {jwksUrl}',
  }),
  jwksUrl: setting('A2A_JWKS_URL', 'webUrl', {
    flag: 'jwks-url',
    value: 'url',
    help: 'url of the keys of that issuer',
  }),
  introspectionIssuer: setting('A2A_INTROSPECTION_ISSUER', 'webUrl', {
    flag: 'introspection-issuer',
    value: 'url',
    help: 'authorization server that is [asked about tokens](authentication.md#tokens-that-only-the-authorization-server-can-read)',
  }),
  introspectionClientId: setting('A2A_INTROSPECTION_CLIENT_ID', 'text', {
    flag: 'introspection-client-id',
    value: 'id',
    help: 'client id of the agent at that server',
  }),
  introspectionClientSecret: setting('A2A_INTROSPECTION_CLIENT_SECRET', 'text', {
    secret: true,
    flag: 'introspection-client-secret',
    value: 'secret',
    help: 'secret of that client',
  }),
  introspectionUrl: setting('A2A_INTROSPECTION_URL', 'webUrl', {
    unset: 'that in its metadata',
    flag: 'introspection-url',
    value: 'url',
    help: 'introspection endpoint of that server',
  }),
  tokenUrl: setting('A2A_TOKEN_URL', 'webUrl', {
    flag: 'token-url',
    value: 'url',
    help: 'token endpoint for the card, where callers get these tokens',
  }),
  jwtAudience: setting('A2A_JWT_AUDIENCE', 'list', {
    repeats: true,
    flag: 'jwt-audience',
    value: 'name',
    help: 'audiences that a token may have, required with {oidcIssuer} and {jwtIssuer}',
  }),
  jwtAlgorithms: setting('A2A_JWT_ALGORITHMS', 'algorithms', {
    repeats: true,
    unset: 'all asymmetric ones',
    flag: 'jwt-algorithm',
    value: 'name',
    help: 'allowed algorithms of tokens, such as `ES256`',
  }),
  requiredScopes: setting('A2A_REQUIRED_SCOPES', 'scopes', {
    repeats: true,
    flag: 'required-scope',
    value: 'scope',
    help: 'scopes that every token must have',
  }),
  tenantClaim: setting('A2A_TENANT_CLAIM', 'text', {
    flag: 'tenant-claim',
    value: 'name',
    help: 'claim with the tenants of a user',
  }),
  authAllowHosts: setting('A2A_AUTH_ALLOW_HOSTS', 'list', {
    repeats: true,
    flag: 'auth-allow-host',
    value: 'host',
    help: 'private hosts that may be called for keys, such as `keycloak.internal:8080`',
  }),
  authPlainHttp: setting('A2A_AUTH_PLAIN_HTTP', 'boolean', {
    default: 'false',
    flag: 'auth-plain-http',
    help: 'allow issuers and keys without TLS, for a private network',
  }),
};

/** Every setting of a ready-made server. Variables, flags and the reference in `docs/configuration.md` follow it. */
export const SERVER_SETTINGS = {
  ...PLAIN_SETTINGS,
  ...RATE_SETTINGS,
  ...CREDENTIAL_SETTINGS,
  ...TOKEN_SETTINGS,
};

/** The name of a setting. */
export type SettingName = keyof typeof SERVER_SETTINGS;

/** Replaces `{port}` by the name that a source has for the setting `port`. */
export function nameSettings(text: string, nameOf: (name: SettingName) => string): string {
  return text.replace(/\{(\w+)\}/g, (braces, name: string) =>
    Object.hasOwn(SERVER_SETTINGS, name) ? nameOf(name as SettingName) : braces,
  );
}
