import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley, RunningParley } from './parley.js';
import { type Answer, RecordingAgent, result } from './recording-agent.js';

/** An authorization server that gives what the test says, one answer of the token endpoint after the other. */
class AuthorizationServer implements AsyncDisposable {
  readonly requests: Record<string, string>[] = [];
  url = '';
  readonly #server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const form = Object.fromEntries(new URLSearchParams(text));
    this.requests.push({ path: request.url ?? '', authorization: request.headers.authorization ?? '', ...form });
    const { status = 200, ...body } =
      request.url === '/.well-known/openid-configuration'
        ? {
            issuer: this.url,
            token_endpoint: `${this.url}/token`,
            device_authorization_endpoint: `${this.url}/device`,
          }
        : request.url === '/device'
          ? {
              device_code: 'device-1',
              user_code: 'ABCD-EFGH',
              verification_uri: `${this.url}/activate`,
              expires_in: 60,
              interval: 0.05,
            }
          : (this.answers.shift() ?? { status: 400, error: 'invalid_grant' });
    response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });

  constructor(readonly answers: Record<string, unknown>[]) {}

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const token = (access_token: string, more = {}) => ({ access_token, token_type: 'Bearer', expires_in: 3600, ...more });

async function agentOf(authorization: AuthorizationServer, flow: 'deviceCode' | 'clientCredentials') {
  const urls = { tokenUrl: `${authorization.url}/token`, scopes: { call: 'Call it' } };
  const flows =
    flow === 'deviceCode'
      ? { deviceCode: { ...urls, deviceAuthorizationUrl: `${authorization.url}/device` } }
      : { clientCredentials: urls };
  const card = {
    securitySchemes: { oauth: { oauth2SecurityScheme: { flows } } },
    securityRequirements: [{ schemes: { oauth: { list: ['call'] } } }],
  };
  const answer: Answer = ({ headers }) =>
    headers.authorization === undefined
      ? { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: {} }
      : result({ message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'welcome' }] } });
  return RecordingAgent.start({ card, answer });
}

describe('auth login', () => {
  it('AUTH_005, AUTH_007: by device code; the token is kept safely, sent by itself, and renewed', async () => {
    using home = new EmptyFolder();
    const env = { HOME: home.path };
    await using authorization = await new AuthorizationServer([
      { status: 400, error: 'authorization_pending' },
      token('first', { refresh_token: 'refresh-1', expires_in: 0 }),
      token('second', { refresh_token: 'refresh-2' }),
    ]).listen();
    await using agent = await agentOf(authorization, 'deviceCode');

    const before = await parley(['send', '-a', agent.url, 'x'], { env });
    expect(before.code).toBe(4);
    expect(before.stderr).toContain(`hint: the agent takes parley auth login --agent-card ${agent.url}`);

    await using login = new RunningParley(['auth', 'login', '--client-id', 'cli', '-a', agent.url], { env });
    await login.told(/Open http:\S+\/activate and enter the code ABCD-EFGH/);
    const { code, stdout } = await login.ended;
    expect(code).toBe(0);
    expect(stdout).toContain(`Signed in at: ${authorization.url}`);

    const file = join(home.path, '.config', 'a2a-cli', 'logins.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const sent = await parley(['send', '-a', agent.url, 'x', '--debug'], { env });
    expect(sent.stdout).toContain('welcome');
    expect(agent.calls.at(-1)?.headers.authorization).toBe('Bearer second');
    expect(sent.stderr).not.toMatch(/Bearer second|refresh-/);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      [agent.url.replace('127.0.0.1', 'localhost')]: { tokens: { accessToken: 'second', refreshToken: 'refresh-2' } },
    });
  });

  it('AUTH_006: by client credentials, whose secret is not kept and goes where the caller has said', async () => {
    using home = new EmptyFolder();
    const env = { HOME: home.path, A2ACLI_CLIENT_SECRET: 'very-secret' };
    await using authorization = await new AuthorizationServer([token('granted')]).listen();
    await using agent = await agentOf(authorization, 'clientCredentials');
    const args = ['auth', 'login', '--client-id', 'cli', '-a', agent.url];

    const unsure = await parley(args, { env });
    expect(unsure.code).toBe(2);
    expect(unsure.stderr).toContain(`hint: --issuer ${authorization.url} says`);
    expect(authorization.requests).toEqual([]);

    expect((await parley([...args, '--issuer', authorization.url], { env })).code).toBe(0);
    expect(authorization.requests).toMatchObject([{ path: '/token', grant_type: 'client_credentials', scope: 'call' }]);
    const { stdout } = await parley(['send', '-a', agent.url, 'x'], { env: { HOME: home.path } });
    expect(stdout).toContain('welcome');
    expect(agent.calls.at(-1)?.headers.authorization).toBe('Bearer granted');
    expect(readFileSync(join(home.path, '.config', 'a2a-cli', 'logins.json'), 'utf8')).not.toContain('very-secret');
  });

  it('AUTH_010: by OpenID Connect, whose endpoints are discovered', async () => {
    using home = new EmptyFolder();
    const env = { HOME: home.path };
    await using authorization = await new AuthorizationServer([token('known')]).listen();
    const openIdConnectUrl = `${authorization.url}/.well-known/openid-configuration`;
    const card = {
      securitySchemes: { oidc: { openIdConnectSecurityScheme: { openIdConnectUrl } } },
      securityRequirements: [{ schemes: { oidc: { list: ['openid'] } } }],
    };
    await using agent = await RecordingAgent.start({ card });
    const { code, stderr } = await parley(['auth', 'login', '--client-id', 'cli', '-a', agent.url], { env });
    expect(stderr).toMatch(/enter the code ABCD-EFGH/);
    expect(code).toBe(0);
    await parley(['send', '-a', agent.url, 'x'], { env });
    expect(agent.calls.at(-1)?.headers.authorization).toBe('Bearer known');
  });

  it('says what a card offers that has nothing to sign in with', async () => {
    await using agent = await RecordingAgent.start();
    const { code, stderr } = await parley(['auth', 'login', '--client-id', 'cli', '-a', agent.url]);
    expect(stderr).toMatch(/the card has no OAuth or OpenID Connect scheme/);
    expect(code).toBe(2);
  });
});
