import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

/** The redirect address of clients with a person; nothing listens there. */
export const REDIRECT_URI = 'http://127.0.0.1:9/callback';
/** Secrets of clients. No message and no log may contain them. */
export const CLIENT_SECRET = 'pl4nted-s3cret-of-the-machine/+=';

/** A real authorization server in this process, on a port of its own. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** Requests to the token endpoint so far: the grant, and the status of the answer. */
  readonly tokenRequests: readonly TokenRequest[];
  /** The issued tokens, which a test can revoke. */
  readonly issued: IssuedToken[];
  /** Answers the next requests to the token endpoint instead. */
  interfere(answer: ((path: string) => Interference | undefined) | undefined): void;
  /** Signs with a new key from now on, and publishes only that one. */
  rotateKeys(): Promise<void>;
  close(): Promise<void>;
}

interface IssuedToken {
  destroy(): Promise<unknown>;
}

interface TokenRequest {
  readonly grant: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly status: number;
}

interface Interference {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

// It warns at every start that it is set up for a test.
for (const level of ['info', 'warn'] as const) {
  const print = console[level];
  console[level] = (...values: unknown[]) => {
    if (!String(values[0]).includes('oidc-provider')) print(...values);
  };
}

/** Starts one. Access tokens live for `lifeS` seconds. */
export async function startAuthorizationServer({
  lifeS = 3_600,
  deviceCodeS = 600,
  clientKey,
  accessTokenFormat = 'opaque',
}: {
  readonly lifeS?: number;
  readonly deviceCodeS?: number;
  readonly clientKey?: object;
  /** The form of access tokens for a `resource`, which is their audience. */
  readonly accessTokenFormat?: 'opaque' | 'jwt';
} = {}): Promise<AuthorizationServer> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const tokenRequests: TokenRequest[] = [];
  const issued: IssuedToken[] = [];
  const startProvider = async (kid: string) => {
    const configuration = await configurationOf({ lifeS, deviceCodeS, clientKey, accessTokenFormat, kid });
    return observeTokens(new Provider(issuer, configuration), { tokenRequests, issued }).callback();
  };
  let interference: ((path: string) => Interference | undefined) | undefined;
  let answer = await startProvider('k1');
  let keys = 1;
  http.on('request', (request, response) => {
    const other = interference?.(request.url ?? '');
    if (other === undefined) return void answer(request, response);
    response.writeHead(other.status, { 'content-type': 'application/json', ...other.headers }).end(other.body);
  });
  return {
    issuer,
    tokenRequests,
    issued,
    interfere(next) {
      interference = next;
    },
    async rotateKeys() {
      keys += 1;
      answer = await startProvider(`k${keys}`);
    },
    close: () => closeServer(http),
  };
}

function observeTokens(
  provider: Provider,
  { tokenRequests, issued }: { readonly tokenRequests: TokenRequest[]; readonly issued: IssuedToken[] },
): Provider {
  provider.on('access_token.saved', (token) => issued.push(token));
  provider.on('client_credentials.saved', (token) => issued.push(token));
  provider.on('refresh_token.saved', (token) => issued.push(token));
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== '/token') return;
    const body = { ...ctx.oidc?.params };
    tokenRequests.push({ grant: String(body.grant_type), body, status: ctx.status });
  });
  return provider;
}

/** Ends a server and its connections. */
export async function closeServer(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await ended;
}

async function configurationOf({
  lifeS,
  deviceCodeS,
  clientKey,
  accessTokenFormat,
  kid,
}: {
  readonly lifeS: number;
  readonly deviceCodeS: number;
  readonly clientKey: object | undefined;
  readonly accessTokenFormat: 'opaque' | 'jwt';
  readonly kid: string;
}): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const person = {
    // The second one is that of the console, which listens on any port.
    redirect_uris: [REDIRECT_URI, 'http://127.0.0.1:9/console'],
    response_types: ['code'] as const,
    application_type: 'native' as const,
  };
  const machine = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] };
  return {
    clients: [
      { ...machine, client_id: 'machine', client_secret: CLIENT_SECRET },
      {
        ...machine,
        client_id: 'poster',
        client_secret: CLIENT_SECRET,
        token_endpoint_auth_method: 'client_secret_post',
      },
      ...(clientKey === undefined
        ? []
        : [
            {
              ...machine,
              client_id: 'keyed',
              token_endpoint_auth_method: 'private_key_jwt' as const,
              jwks: { keys: [clientKey] },
            },
          ]),
      {
        ...person,
        response_types: ['code'],
        client_id: 'browser',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
      {
        ...person,
        response_types: [],
        redirect_uris: [],
        client_id: 'television',
        token_endpoint_auth_method: 'none',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      },
      // The agent, which introspects tokens.
      { ...machine, client_id: 'agent', client_secret: CLIENT_SECRET, grant_types: [] },
    ],
    scopes: ['openid', 'offline_access', 'read', 'write'],
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_, resource) => ({ scope: 'read write', audience: resource, accessTokenFormat }),
      },
    },
    pkce: { required: () => true },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    ttl: {
      AccessToken: lifeS,
      ClientCredentials: lifeS,
      DeviceCode: deviceCodeS,
      RefreshToken: 3_600,
      Grant: 3_600,
      Session: 3_600,
      Interaction: 600,
      IdToken: 600,
      AuthorizationCode: 60,
    },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid }] },
    cookies: { keys: ['cookies of a test'] },
  };
}
