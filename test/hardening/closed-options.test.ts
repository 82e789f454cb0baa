import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { guardedFetch } from 'parley-a2a';
import { agentCalls } from 'parley-a2a/agent-calls';
import * as auth from 'parley-a2a/auth';
import * as credentials from 'parley-a2a/credentials';
import * as files from 'parley-a2a/files';
import { createA2AHost, createA2AServer, credentialAuthenticator, loopbackRedirect } from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import * as pushReceiver from 'parley-a2a/push-receiver';
import { createAgentHandler } from 'parley-a2a/server';
import { a2aChatHandler } from 'parley-a2a-ai-sdk';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import * as mcp from 'parley-a2a-mcp';
import { mutualTls } from 'parley-a2a-mutual-tls';
import * as s3 from 'parley-a2a-s3';
import * as signing from 'parley-a2a-signing';
import { afterAll, describe, expect, it } from 'vitest';
import { OptionsError } from '../../packages/parley/src/errors/options-error.js';
import { silentLogger as logger } from '../../packages/parley/src/telemetry/logger.js';
import { makeAuthority } from '../credentials/certificates.js';
import { misspelt, placesIn, problemOf } from './misspelt-options.js';

/** A call with all options that protect. A member that is missing here does not compile. */
interface Row {
  readonly make: (...args: never[]) => unknown;
  readonly args: readonly unknown[];
}

const folder = mkdtempSync(join(tmpdir(), 'closed-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pair = await generateKeyPair('ES256', { extractable: true });
const sealing = await generateKeyPair('ECDH-ES', { extractable: true });
const key = { ...(await exportJWK(pair.privateKey)), kty: 'EC', kid: 'k', alg: 'ES256' };
const sealingKey = { ...(await exportJWK(sealing.privateKey)), kty: 'EC', kid: 'e', alg: 'ECDH-ES+A256KW', use: 'enc' };
const jwk = { ...(await exportJWK(pair.publicKey)), kty: 'EC', kid: 'k', alg: 'ES256' };
const agent = (prompt: string) => prompt;
const fetch = () => Promise.reject(new Error('not called'));
const keys = () => new auth.ApiKeys([{ key: 'key-of-ada', subject: 'ada' }]);
const provider = credentials.apiKey('key');
const authority = makeAuthority('closed options');
const identity = { ...authority.server(), ca: authority.ca };
const tls = { ...identity, requestCert: true, minVersion: 'TLSv1.3', hstsSeconds: 1, reloadMs: 10_000 } as const;

const owner = {
  subject: 'ada',
  name: 'Ada',
  scopes: [],
  permissions: [],
  tenants: [],
  metadata: {},
  expiresAt: '2090-01-01',
} satisfies Required<auth.CredentialOwner>;
const forwarded = {
  proxies: ['loopback'],
  format: 'envoy',
  header: 'X-Cert',
  verifyHeader: 'X-Ok',
} satisfies Required<auth.ForwardedCertificates>;
const place = { location: 'cookie', name: 'sid' } satisfies Required<auth.ApiKeyPlace>;
const tokens = {
  issuer: 'https://id.example',
  requiredScopes: [],
  claims: { subject: 'sub', name: 'name', scopes: 'scope', permissions: 'roles', tenants: 'tid', metadata: [] },
  optional: true,
  schemeName: 'token',
  maxTokenBytes: 1,
  forwarded,
  cache: { maxTokens: 1, maxAgeMs: 1 },
  isRevoked: () => false,
  allow: [],
  plainHttp: true,
  fetch,
  logger,
} satisfies Required<auth.TokenOptions>;
const rules = {
  audience: 'agent',
  algorithms: ['ES256'],
  clockToleranceSeconds: 1,
  requiredClaims: [],
  types: [],
  keyTimes: { maxAgeMs: 1, cooldownMs: 1, staleMs: 1 },
} satisfies Required<auth.JwtRules>;
const flows = {
  clientCredentials: { tokenUrl: 'https://id.example/t', refreshUrl: 'https://id.example/r', scopes: {} },
};
const introspection = {
  clientId: 'agent',
  clientSecret: 'secret',
  authentication: { method: 'basic', secret: 'secret' },
  endpoint: 'https://id.example/i',
} satisfies Required<auth.IntrospectionOptions>;
const oauth = {
  issuer: 'https://id.example',
  endpoints: {
    token: 'https://id.example/t',
    authorization: 'https://id.example/a',
    deviceAuthorization: 'https://id.example/d',
  },
  endpointOrigins: [],
  clientId: 'app',
  clientSecret: 'secret',
  authentication: { method: 'private-key', key: pair.privateKey, kid: 'k' },
  scopes: [],
  stepUp: [],
  resource: 'https://agent.example',
  scheme: 'oauth2',
  store: { load: async () => undefined, save: async () => {} },
  trustedOrigins: [],
  fetch,
  plainHttp: true,
} satisfies Required<credentials.OAuthClientOptions>;
const keySets = { allow: [], keyTimes: rules.keyTimes, logger, fetch };
const encryptionKeys = { keys: [{ ...(await exportJWK(sealing.publicKey)), kty: 'EC', kid: 'e', use: 'enc' }] };
const rate = { requests: 1, windowMs: 1 };
const agentOptions = {
  agent,
  authenticator: keys(),
  idempotency: { anonymous: true, windowMs: 1 },
  limits: { bodyBytes: 1 },
  ratePerPrincipal: rate,
  provider: { organization: 'O', url: 'https://o.example' },
  skills: [{ id: 's', name: 'S', description: 'S', securityRequirements: [{ schemes: { apiKey: { list: [] } } }] }],
  securitySchemes: { apiKey: { apiKeySecurityScheme: { location: 'header' as const, name: 'X-API-Key' } } },
  securityRequirements: [{ schemes: { apiKey: { list: ['read'] } } }],
};
const hostOptions = {
  url: 'https://agents.example',
  authenticator: keys(),
  retention: { taskRetentionMs: 1, eventLogMs: 1, everyMs: 1 },
  cardSigning: { keys: [key] },
  tokenBudget: { turn: 1, task: 1, ownerPerDay: 1 },
  rateLimit: { ...rate, perAddress: rate, perPrincipal: rate, keys: 10 },
  concurrency: { streamsPerCaller: 1, streams: 1, turnsPerCaller: 1, turns: 1 },
  cors: { origins: [], allowedHeaders: [], exposedHeaders: [], credentials: true, maxAgeSeconds: 1 },
  compression: { minimumLength: 1 },
  metrics: { endpoint: true, authenticator: keys() },
  push: {
    allow: [],
    only: [],
    maxConfigs: 1,
    timeoutMs: 1,
    attempts: 1,
    firstDelayMs: 1,
    maxDelayMs: 1,
    inFlight: 1,
    inFlightPerHost: 1,
    signature: { issuer: 'https://agent.example', keys: [key] },
    fetch,
  },
  publicHosts: ['agents.example'],
  trustProxy: ['loopback'],
  secretKeys: ['a'.repeat(64)],
  logger,
};

const ROWS: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  auth: {
    ApiKeys: {
      make: (list, options) => new auth.ApiKeys(list, options),
      args: [
        [{ key: 'k', ...owner } satisfies Required<auth.ApiKey>],
        { place, schemeName: 's', reloadMs: 1, trustedOrigins: [], logger } satisfies Required<auth.ApiKeysOptions>,
      ],
    },
    BearerTokens: {
      make: (list, options) => new auth.BearerTokens(list, options),
      args: [[{ token: 'k', ...owner } satisfies Required<auth.BearerToken>], { schemeName: 's' }],
    },
    BasicUsers: {
      make: async (list, options) => {
        await new auth.BasicUsers([], options).replace(list);
      },
      args: [
        [{ password: 'p', ...owner } satisfies Required<auth.BasicUser>],
        {
          realm: 'r',
          trustedOrigins: [],
          schemeName: 's',
          reloadMs: 1,
          verifiedMs: 1,
          logger,
        } satisfies Required<auth.BasicUsersOptions>,
      ],
    },
    ClientCertificates: {
      make: (list, options) => new auth.ClientCertificates(list, options),
      args: [
        [{ fingerprint: 'f', commonName: 'c', dnsName: 'd', uri: 'u', email: 'e', ...owner }],
        { schemeName: 's', trustedOrigins: [], forwarded } satisfies Required<auth.ClientCertificatesOptions>,
      ],
    },
    JwtBearer: {
      make: (options) => new auth.JwtBearer(options),
      args: [{ ...tokens, ...rules, keys: { keys: [jwk] } }],
    },
    OpenIdConnect: { make: (options) => new auth.OpenIdConnect(options), args: [{ ...tokens, ...rules }] },
    OAuth2: {
      make: (options) => new auth.OAuth2(options),
      args: [{ ...tokens, flows, metadataUrl: 'https://id.example/m', introspection, audience: 'agent' }],
    },
    'OAuth2 with JWTs': {
      make: (options) => new auth.OAuth2(options),
      args: [{ ...tokens, ...rules, flows, metadataUrl: 'https://id.example/m', jwksUrl: 'https://id.example/k' }],
    },
    allOf: {
      make: (one, options) => auth.allOf(one, options),
      args: [keys(), { differentUsers: true } satisfies Required<auth.AllOfOptions>],
    },
    hashPassword: { make: auth.hashPassword, args: ['password', { iterations: 1 }] },
    tokenAuthenticator: {
      make: auth.tokenAuthenticator,
      args: [
        {
          discovers: false,
          issuer: 'https://id.example',
          audience: ['agent'],
          introspection: { clientId: 'a', clientSecret: 's', tokenUrl: 'https://id.example/t' },
          requiredScopes: ['read'],
          tenantClaim: 'tid',
          allow: [],
          plainHttp: true,
          forwarded,
        },
        { logger },
      ],
    },
  },
  credentials: {
    apiKey: {
      make: credentials.apiKey,
      args: ['key', { place, scheme: 's' } satisfies Required<credentials.ApiKeyOptions>],
    },
    basic: {
      make: credentials.basic,
      args: [{ username: 'u', password: 'p', scheme: 's' } satisfies Required<credentials.BasicOptions>],
    },
    bearerToken: { make: credentials.bearerToken, args: ['token', { scheme: 's' }] },
    clientCredentials: { make: credentials.clientCredentials, args: [oauth] },
    authorizationCode: {
      make: credentials.authorizationCode,
      args: [{ ...oauth, redirectUri: 'http://127.0.0.1/c', authorize: () => '' }],
    },
    deviceCode: { make: credentials.deviceCode, args: [{ ...oauth, show: () => {} }] },
    discoverEndpoints: {
      make: credentials.discoverEndpoints,
      args: ['http://127.0.0.1:1', { signal: AbortSignal.abort(), trustedOrigins: [] }],
    },
    credentialedFetch: {
      make: credentials.credentialedFetch,
      args: [provider, { card: createAgentHandler({ agent }).agentCard, trustedOrigins: [], fetch }],
    },
  },
  'push-receiver': {
    PushReceiver: {
      make: (options) => new pushReceiver.PushReceiver(options),
      args: [
        {
          token: 'token',
          authentication: { scheme: 'Bearer', credentials: 'secret' },
          signature: { ...rules, ...keySets, issuer: 'https://agent.example', plainHttp: true, keys: { keys: [jwk] } },
          onNotification: () => {},
          onRefusal: () => {},
          allowAnonymous: false,
          hosts: [],
          isExpected: () => true,
          maxAgeMs: 1,
          bytes: 1,
          bodyMs: 1,
          logger,
        },
      ],
    },
  },
  signing: {
    messageSigning: {
      make: signing.messageSigning,
      args: [
        {
          ...keySets,
          agent: '/',
          audience: 'agent',
          required: true,
          trust: [{ id: 'p', keys: [jwk], user: 'u' }],
          keys: [key],
          maxAgeMs: 1,
          encryption: { keys: [sealingKey], required: true, answerKeys: 'caller' },
        } satisfies Required<signing.MessageSigningOptions>,
      ],
    },
    signedCalls: {
      make: signing.signedCalls,
      args: [
        {
          ...keySets,
          audience: 'agent',
          keys: [key],
          agent: { keys: [jwk] },
          required: true,
          unsignedEnds: true,
          lifetimeMs: 1,
          encryption: { to: { keys: encryptionKeys }, keys: [sealingKey], required: true },
        } satisfies Required<signing.SignedCallsOptions>,
      ],
    },
    verifySigned: {
      make: (options) => signing.verifySigned({ message: {} } as never, options),
      args: [{ ...keySets, audience: 'agent', agent: { keys: [jwk] }, required: true, unsignedEnds: true }],
    },
  },
  files: {
    fileTransfer: {
      make: files.fileTransfer,
      args: [
        {
          store: files.memoryFileStore(),
          maxBytes: 1,
          ownerBytes: 1,
          expiryMs: 1,
          mediaTypes: { allow: [], deny: [], mismatch: 'refuse' },
          inlineBytes: 1,
          handedBytes: 1,
          idleMs: 1,
          unfinishedMs: 1,
          uploadMs: 1,
          sweepEveryMs: 1,
        } satisfies Required<files.FileTransferOptions>,
      ],
    },
    memoryFileStore: { make: files.memoryFileStore, args: [{ storeBytes: 1 }] },
    directoryFileStore: { make: files.directoryFileStore, args: [{ path: folder, leftoverMs: 1 }] },
  },
  s3: {
    s3FileStore: {
      make: s3.s3FileStore,
      args: [
        {
          bucketUrl: 'https://files.example',
          region: 'r',
          credentials: { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't' },
          prefix: 'p/',
          requestMs: 1,
          retries: 1,
          partBytes: 8_388_608,
          parallel: 1,
          restMs: 1,
        } satisfies Required<s3.S3FileStoreOptions>,
      ],
    },
  },
  mcp: {
    mcpServerOf: { make: (options) => mcp.mcpServerOf([], options), args: [{ name: 'n', calls: 1, tasks: 1, logger }] },
    serveMcpStdio: { make: (options) => mcp.serveMcpStdio([], options), args: [] },
    mcpEndpointOf: {
      make: (options) => mcp.mcpEndpointOf([], options),
      args: [{ hosts: [], origins: [], sessions: 1, idleMs: 1, requestBytes: 1, replayBytes: 1, logger }],
    },
    mcpTools: {
      make: mcp.mcpTools,
      args: [{ name: 'n', url: 'http://127.0.0.1:1/', isForeign: true, only: [], elicit: false, logger }],
    },
  },
};

const WITHOUT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  auth: ['ANONYMOUS', 'anyOf', 'mayUseSkill', 'optional', 'requireScopes', 'userId'],
  credentials:
    'CredentialsError SchemeCredentials combineCredentials isSecretName redactor printableUrl urlSecrets'.split(' '),
  'push-receiver': ['OptionsError'],
  signing: ['ENCRYPTION_EXTENSION', 'SIGNING_EXTENSION', 'UntrustedContentError', 'verifiedSigners'],
  files: ['FILES_EXTENSION', 'UploadOffsetError', 'quotaBytes', 'isFileId'],
  mcp: ['CONTEXT_ID_META', 'McpEndpoint', 'McpQuestionError', 'McpTools', 'TASK_ID_META'],
};

const OTHERS: Readonly<Record<string, Row>> = {
  guardedFetch: { make: guardedFetch, args: [{ allow: [], only: [], bytes: 1, ms: 1 }] },
  credentialAuthenticator: {
    make: credentialAuthenticator,
    args: [
      {
        apiKeys: [{ key: 'k', ...owner }],
        apiKeyPlace: place,
        clientCertificates: true,
        forwardedCertificates: forwarded,
        require: 'any',
      },
      { logger, others: [] },
    ],
  },
  createA2AServer: {
    make: createA2AServer,
    args: [{ ...agentOptions, ...hostOptions, tls, http: { stallMs: 1 }, allowAnonymous: true }],
  },
  loopbackRedirect: {
    make: async (options) => (await loopbackRedirect(options)).close(),
    args: [{ open: () => {}, port: 0, path: '/callback' }],
  },
  createA2AHost: { make: createA2AHost, args: [{ agents: { '/a': agentOptions }, ...hostOptions }] },
  createAgentHandler: { make: createAgentHandler, args: [{ ...agentOptions, ...hostOptions }] },
  mutualTls: { make: mutualTls, args: [{ origins: ['https://agent.example'], identity, scheme: 's' }] },
  grpcBinding: { make: grpcBinding, args: [{ port: 0, tls, maxStreams: 1, maxConnections: 1 }] },
  capnwebBinding: { make: capnwebBinding, args: [{ limits: { connections: 1 }, batch: true }] },
  a2aChatHandler: {
    make: (options) => a2aChatHandler('http://127.0.0.1:1', options),
    args: [{ user: () => 'ada', places: new Map(), maxBytes: 1, onError: () => '' }],
  },
  operatorApi: { make: operatorApi, args: [{ permission: 'p', authenticator: keys(), token: 'x'.repeat(32) }] },
  agentCalls: {
    make: agentCalls,
    args: [{ allow: [], only: [], maxDepth: 1, signatures: { keys: [jwk], jwksOrigins: [] }, resume: { attempts: 1 } }],
  },
};

const MODULES = {
  auth,
  credentials,
  'push-receiver': pushReceiver,
  files,
};
const ALL = { ...MODULES, s3, mcp, signing };
describe.each(Object.entries(ALL))('every export of parley-a2a/%s', (subpath, exported) => {
  it('has its row, so that a misspelt option is refused', () => {
    const named = [...Object.keys(ROWS[subpath] ?? {}), ...(WITHOUT_OPTIONS[subpath] ?? [])];
    expect(Object.keys(exported).filter((name) => !named.includes(name))).toEqual([]);
  });
});

const rows = Object.entries({ ...Object.assign({}, ...Object.values(ROWS)), ...OTHERS } as Record<string, Row>);

describe.each(rows)('%s', (_, { make, args }) => {
  it('takes its options', async () => {
    expect(await problemOf(make, args)).toBeUndefined();
  });

  it.each(placesIn(args))('refuses a misspelt %s, and names the right one', async (place) => {
    const path = place.split('.');
    const name = `${path.at(-1)}x`;
    const problem = await problemOf(make, misspelt(args, path));
    expect(problem).toContain(name);
    expect(problem).toMatch(/unknown option "[^"]*" \(did you mean "/);
  });
});

it.each<[string, () => unknown, string]>([
  ['the place of a key', () => new auth.ApiKeys([], { place: { location: 'cookies', name: 'a' } as never }), 'cookie'],
  ['a forwarded certificate', () => forwardedBy('ngnix'), 'nginx'],
  ['the version of TLS', () => createA2AServer({ agent, tls: { ...tls, minVersion: 'TLSv1.1' as never } }), 'TLSv1.2'],
  ['types of files', () => files.fileTransfer(mismatch('refused')), 'refuse'],
  ['a client', () => credentials.clientCredentials({ ...oauth, authentication: { method: 'tsl' } as never }), 'tls'],
])('a wrong word for %s is refused with the right one', (_, make, word) => {
  expect(make).toThrow(`(did you mean "${word}"?)`);
});

it('the required credentials of a server are one of three words', async () => {
  await expect(credentialAuthenticator({ require: 'al' as never })).rejects.toThrow('(did you mean "all"?)');
});

function forwardedBy(format: string) {
  return new auth.ClientCertificates([], { forwarded: { ...forwarded, format: format as never } });
}

function mismatch(word: string): files.FileTransferOptions {
  return { store: files.memoryFileStore(), mediaTypes: { mismatch: word as never } };
}

it('keys take no issuer, by which their users would be those of another scheme', () => {
  expect(() => new auth.ApiKeys([], { issuer: 'basic' } as never)).toThrow('unknown option "issuer"');
});

it('rules of JWTs are refused beside introspection', () => {
  const options = { issuer: 'https://id.example', flows, introspection, requiredClaims: ['acr'] };
  expect(() => new auth.OAuth2(options as never)).toThrow('unknown option "requiredClaims"');
});

it('required scopes are at least one text', () => {
  for (const scopes of [[], [['read']], ['']])
    expect(() => auth.requireScopes(keys(), ...(scopes as string[]))).toThrow('needs at least one scope');
});

it('the user of a certificate has no unknown member', () => {
  const rule = () => ({ subject: 'ada', expires: '2020-01-01' });
  const certificates = new auth.ClientCertificates(rule);
  const clientCertificate = { subject: {}, dnsNames: [], uris: [], emails: [] };
  const credentials = { query: '', header: () => undefined, clientCertificate };
  expect(() => certificates.authenticate(credentials)).toThrow('unknown option "expires" (did you mean "expiresAt"?)');
});

it.each<[string, () => unknown]>([
  ['a key and a hash', () => new auth.ApiKeys([{ key: 'k', sha256: 'a'.repeat(64), subject: 'ada' }])],
  ['a token and a hash', () => new auth.BearerTokens([{ token: 'k', sha256: 'a'.repeat(64), subject: 'ada' }])],
  ['options before the last member', () => auth.allOf(keys(), { differentUsers: true } as never, keys())],
])('%s is refused: one of them would not count', (_, make) => {
  expect(make).toThrow(OptionsError);
});
