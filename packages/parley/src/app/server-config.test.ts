import { describe, expect, it } from 'vitest';
import { OptionsError } from '../errors/options-error.js';
import { readServerConfig } from './server-config.js';

it('nothing set is a server for this machine with SQLite', () => {
  const defaults = {
    host: '127.0.0.1',
    port: 8080,
    databaseUrl: 'sqlite:./data/parley.db',
    trustProxy: [],
    pushAllow: [],
    operator: false,
    allowAnonymous: false,
    drainMs: 0,
    cacheTtlSeconds: 300,
    logLevel: 'info',
    warnings: [],
  };
  expect(readServerConfig({})).toEqual(defaults);
  expect(readServerConfig({ PORT: '', HOST: ' ', DATABASE_URL: '', HOME: '/root', A2A_PUBLIC_URL: undefined })).toEqual(
    defaults,
  );
});

it('everything set is read', () => {
  expect(
    readServerConfig({
      PORT: '0',
      GRPC_PORT: 'shared',
      GRPC_ADDRESS: 'agents.example.com:443',
      HOST: '[::1]',
      DATABASE_URL: 'sqlite:/var/lib/a.db?durability=process',
      A2A_PUBLIC_URL: 'https://example.com/agents/',
      A2A_TRUST_PROXY: 'loopback, 10.0.0.0/8',
      A2A_PUSH_ALLOW: 'hooks.internal, 10.0.0.0/8:8443',
      A2A_ALLOW_ANONYMOUS: 'true',
      A2A_CORS_ORIGINS: 'https://page.example, http://localhost:5173',
      A2A_DRAIN_SECONDS: '2.5',
      A2A_REDIS_URL: 'rediss://user:pass@redis.example:6380/2',
      A2A_CACHE_TTL_SECONDS: '60',
      LOG_LEVEL: 'WARN',
    }),
  ).toEqual({
    host: '::1',
    port: 0,
    grpcPort: 'shared',
    grpcAddress: 'agents.example.com:443',
    databaseUrl: 'sqlite:/var/lib/a.db?durability=process',
    publicUrl: 'https://example.com/agents',
    trustProxy: ['loopback', '10.0.0.0/8'],
    pushAllow: ['hooks.internal', '10.0.0.0/8:8443'],
    operator: false,
    allowAnonymous: true,
    corsOrigins: ['https://page.example', 'http://localhost:5173'],
    drainMs: 2500,
    redisUrl: 'rediss://user:pass@redis.example:6380/2',
    cacheTtlSeconds: 60,
    logLevel: 'warn',
    warnings: [],
  });
});

it('reads a budget of tokens by its parts', () => {
  const budget = (text: string) => readServerConfig({ A2A_TOKEN_BUDGET: text }).tokenBudget;
  expect(budget('turn=10000, ownerPerDay=1000000')).toEqual({ turn: 10_000, ownerPerDay: 1_000_000 });
  for (const wrong of ['10000', 'turn=0', 'turn=', 'turn=1e4', 'turn=1=2', 'day=1', 'turn=1,turn=2', 'turn=2147483648'])
    expect(() => budget(wrong), wrong).toThrow(/A2A_TOKEN_BUDGET=".*" must be turn, task or ownerPerDay/);
});

describe('tokens', () => {
  it('of an OpenID Connect provider', () => {
    const { tokens, warnings } = readServerConfig({
      A2A_OIDC_ISSUER: 'http://keycloak:8080/realms/agents',
      A2A_JWT_AUDIENCE: 'agent, https://agent.example',
      A2A_JWT_ALGORITHMS: 'ES256,RS256',
      A2A_REQUIRED_SCOPES: 'read  write',
      A2A_TENANT_CLAIM: 'org',
      A2A_AUTH_ALLOW_HOSTS: 'keycloak:8080',
      A2A_AUTH_PLAIN_HTTP: 'true',
    });
    expect(warnings).toEqual([]);
    expect(tokens).toEqual({
      discovers: true,
      issuer: 'http://keycloak:8080/realms/agents',
      audience: ['agent', 'https://agent.example'],
      algorithms: ['ES256', 'RS256'],
      requiredScopes: ['read', 'write'],
      tenantClaim: 'org',
      allow: ['keycloak:8080'],
      plainHttp: true,
    });
  });

  it('that an authorization server is asked about, also those that are bound to certificates', () => {
    const { tokens, credentials } = readServerConfig({
      A2A_INTROSPECTION_ISSUER: 'https://id.example',
      A2A_INTROSPECTION_CLIENT_ID: 'agent',
      A2A_INTROSPECTION_CLIENT_SECRET: 'pl4nted-s3cret',
      A2A_INTROSPECTION_URL: 'https://id.example/introspect',
      A2A_TOKEN_URL: 'https://id.example/token',
      A2A_CLIENT_CERT_PROXIES: '10.0.0.0/8',
      A2A_CLIENT_CERT_FORMAT: 'envoy',
    });
    const forwarded = { proxies: ['10.0.0.0/8'], format: 'envoy' };
    expect(credentials).toEqual({ forwardedCertificates: forwarded });
    expect(tokens).toEqual({
      discovers: false,
      issuer: 'https://id.example',
      audience: [],
      introspection: {
        clientId: 'agent',
        clientSecret: 'pl4nted-s3cret',
        endpoint: 'https://id.example/introspect',
        tokenUrl: 'https://id.example/token',
      },
      forwarded,
    });
  });

  it('with keys by URL', () => {
    const [issuer, jwksUrl] = ['https://id.example/', 'https://id.example/keys'];
    const env = { A2A_JWT_ISSUER: issuer, A2A_JWKS_URL: jwksUrl, A2A_JWT_AUDIENCE: 'agent' };
    expect(readServerConfig(env).tokens).toEqual({ discovers: false, issuer, jwksUrl, audience: ['agent'] });
  });

  it.each([
    [{ A2A_JWT_AUDIENCE: 'agent' }, 'A2A_JWT_AUDIENCE needs A2A_OIDC_ISSUER'],
    [{ A2A_OIDC_ISSUER: 'https://id.example' }, 'A2A_JWT_AUDIENCE must name this agent'],
    [{ A2A_JWT_ISSUER: 'https://id.example', A2A_JWT_AUDIENCE: 'a' }, 'A2A_JWKS_URL belong together'],
    [{ A2A_OIDC_ISSUER: 'https://id.example', A2A_JWKS_URL: 'https://id.example/keys' }, 'stands alone'],
    [{ A2A_OIDC_ISSUER: 'http://id.example' }, 'must be an https url; A2A_AUTH_PLAIN_HTTP=true allows http'],
    [{ A2A_JWT_ALGORITHMS: 'none' }, 'A2A_JWT_ALGORITHMS="none" must be some of RS256'],
    [{ A2A_JWT_ALGORITHMS: 'HS256' }, 'A2A_JWT_ALGORITHMS="HS256" must be some of RS256'],
    [{ A2A_REQUIRED_SCOPES: 'a"b' }, 'must be scopes'],
    [{ A2A_INTROSPECTION_ISSUER: 'https://id.example' }, 'A2A_INTROSPECTION_ISSUER needs A2A_INTROSPECTION_CLIENT_ID'],
    [{ A2A_INTROSPECTION_CLIENT_SECRET: 'x' }, 'A2A_INTROSPECTION_CLIENT_SECRET needs A2A_INTROSPECTION_ISSUER'],
    [{ A2A_INTROSPECTION_ISSUER: 'https://a.example', A2A_OIDC_ISSUER: 'https://b.example' }, 'it is asked about each'],
    [{ A2A_CLIENT_CERT_PROXIES: '10.0.0.0/8' }, 'A2A_CLIENT_CERT_PROXIES and A2A_CLIENT_CERT_FORMAT belong together'],
    [{ A2A_CLIENT_CERT_FORMAT: 'haproxy' }, 'must be one of envoy, nginx, rfc9440'],
    [{ A2A_AUTH_REQUIRE: 'both' }, 'must be one of any, all, all-users'],
    [{ A2A_API_KEY_PLACE: 'header:X-Key' }, 'A2A_API_KEY_PLACE needs API keys: set A2A_API_KEYS_FILE'],
    [{ A2A_API_KEY_PLACE: 'header:Authorization' }, 'must be a place such as header:X-Agent-Key'],
    [{ A2A_API_KEY_PLACE: 'body:key' }, 'must be a place such as header:X-Agent-Key'],
  ])('%j is refused', (env, problem) => {
    expect(() => readServerConfig(env as Record<string, string>)).toThrow(problem);
  });
});

it.each([
  [{ A2A_RATE_LIMIT: '100/60s' }, { requests: 100, windowMs: 60_000 }],
  [
    { A2A_RATE_LIMIT: '100/60s', A2A_RATE_LIMIT_ADDRESS: '1000/60s' },
    { requests: 100, windowMs: 60_000, perAddress: { requests: 1_000, windowMs: 60_000 } },
  ],
  [
    { A2A_RATE_LIMIT: '100/60s', A2A_RATE_LIMIT_USER: 'off' },
    { requests: 100, windowMs: 60_000, perPrincipal: false },
  ],
  [{ A2A_RATE_LIMIT_USER: '10/s' }, { perPrincipal: { requests: 10, windowMs: 1_000 } }],
  [{ A2A_RATE_LIMIT_ADDRESS: 'off', A2A_RATE_LIMIT_USER: 'off' }, undefined],
])('the rates of %j', (env, rateLimit) => {
  expect(readServerConfig(env as Record<string, string>).rateLimit).toEqual(rateLimit);
});

describe('a mistake is named with what would be right', () => {
  it.each([
    ['PORT', 'eighty', 'a number from 0 to 65535'],
    ['PORT', '65536', 'a number from 0 to 65535'],
    ['PORT', '-1', 'a number from 0 to 65535'],
    ['HOST', 'http://x', 'a host name or an IP address'],
    ['DATABASE_URL', './data', 'a url such as sqlite:'],
    ['A2A_PUBLIC_URL', 'example.com', 'an http or https url'],
    ['A2A_PUBLIC_URL', 'ftp://example.com', 'an http or https url'],
    ['A2A_TRUST_PROXY', 'true', 'addresses, ranges'],
    ['A2A_PUSH_ALLOW', 'http://hook', 'hosts, addresses'],
    ['A2A_ALLOW_ANONYMOUS', 'yes', 'true or false'],
    ['A2A_CORS_ORIGINS', 'page.example', 'origins such as'],
    ['A2A_DRAIN_SECONDS', 'soon', 'a number of seconds'],
    ['A2A_DRAIN_SECONDS', '3601', 'a number of seconds'],
    ['A2A_REDIS_URL', 'localhost:6379', 'a url such as redis://'],
    ['A2A_CACHE_TTL_SECONDS', '0', 'a number of seconds from 1'],
    ['LOG_LEVEL', 'loud', 'one of debug, info, warn, error, silent'],
  ])('%s=%s', (name, value, right) => {
    expect(() => readServerConfig({ [name]: value })).toThrow(`${name}="${value}" must be ${right}`);
  });

  it('without the password that is in it', () => {
    const read = () => readServerConfig({ A2A_REDIS_URL: 'http://user:secret@redis.example' });
    expect(read).toThrow('A2A_REDIS_URL="http://***@redis.example" must be');
    const readUrl = () => readServerConfig({ A2A_PUBLIC_URL: 'https://example.com/?a=secret' });
    expect(readUrl).toThrow('A2A_PUBLIC_URL="https://example.com/?***" must be an http or https url');
  });

  it('for all of them at once', () => {
    try {
      readServerConfig({ PORT: 'x', LOG_LEVEL: 'y', PARLEY_PUBLIK_URL: 'z' });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(OptionsError);
      expect((error as OptionsError).problems).toHaveLength(3);
    }
  });

  it('also for an unknown name with the prefix PARLEY_', () => {
    const message = 'PARLEY_SOMETHING_ELSE is no setting of this server';
    expect(() => readServerConfig({ PARLEY_SOMETHING_ELSE: 'x' })).toThrow(message);
  });
});

it.each([
  ['A2A_PUBLIC_URI', 'A2A_PUBLIC_URI is no setting of this server (did you mean A2A_PUBLIC_URL?)'],
  ['A2A_TRUSTED_PROXY', 'A2A_TRUSTED_PROXY is no setting of this server (did you mean A2A_TRUST_PROXY?)'],
  ['A2A_REGISTRY_OF_ANOTHER_TOOL', 'A2A_REGISTRY_OF_ANOTHER_TOOL is no setting of this server'],
])('a variable of another tool such as %s is a warning', (name, warning) => {
  expect(readServerConfig({ PORT: '0', [name]: 'a secret' })).toMatchObject({ port: 0, warnings: [warning] });
});

it('an application may have settings of its own', () => {
  expect(readServerConfig({ A2A_OWN: 'x', PARLEY_OWN: 'x' }, ['A2A_OWN', 'PARLEY_OWN']).warnings).toEqual([]);
  const { warnings } = readServerConfig({ A2A_OWM: 'x' }, ['A2A_OWN']);
  expect(warnings).toEqual(['A2A_OWM is no setting of this server (did you mean A2A_OWN?)']);
});
