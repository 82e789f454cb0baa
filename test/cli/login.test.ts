import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley, RunningParley } from './parley.js';
import { type Answer, RecordingAgent, result } from './recording-agent.js';

/** An authorization server whose token endpoint returns the given answers in order. */
class AuthorizationServer implements AsyncDisposable {
  readonly requests: Record<string, string>[] = [];
  url = '';
  readonly #server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const form = Object.fromEntries(new URLSearchParams(text));
    this.requests.push({ path: request.url ?? '', authorization: request.headers.authorization ?? '', ...form });
    const { status = 200, ...body } =
      request.url?.startsWith('/.well-known/') === true
        ? this.described
          ? {
              issuer: this.url,
              token_endpoint: `${this.url}/token`,
              device_authorization_endpoint: `${this.url}/device`,
            }
          : { status: 404 }
        : request.url === '/device'
          ? {
              device_code: 'device-1',
              user_code: 'ABCD-EFGH',
              verification_uri: `${this.url}/activate`,
              expires_in: 60,
              interval: 0.05,
              ...this.device,
            }
          : (this.answers.shift() ?? { status: 400, error: 'invalid_grant' });
    response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });

  readonly answers: Record<string, unknown>[];
  /** True if it has a discovery document. */
  readonly described: boolean;

  constructor(answers: Record<string, unknown>[], described = true) {
    this.answers = answers;
    this.described = described;
  }

  /** Members of its answers about device codes. */
  device: object = {};

  /** Requests other than for the discovery document. */
  get asked(): readonly Record<string, string>[] {
    return this.requests.filter(({ path }) => path?.startsWith('/.well-known/') !== true);
  }

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
  it('AUTH_005, AUTH_007: by device code; the token is stored in a private file, sent and refreshed', async () => {
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
    await login.waitForStderr(/Open http:\S+\/activate and enter the code ABCD-EFGH/);
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

  it('AUTH_006: by client credentials; the secret is not stored, and only sent to the issuer of the caller', async () => {
    using home = new EmptyFolder();
    const env = { HOME: home.path, A2ACLI_CLIENT_SECRET: 'pl4nted-s3cret-1' };
    await using authorization = await new AuthorizationServer([token('granted')]).listen();
    await using agent = await agentOf(authorization, 'clientCredentials');
    const args = ['auth', 'login', '--client-id', 'cli', '-a', agent.url];

    const unsure = await parley(args, { env });
    expect(unsure.code).toBe(2);
    expect(unsure.stderr).toContain(`hint: --issuer ${authorization.url} allows`);
    expect(authorization.requests).toEqual([]);

    expect((await parley([...args, '--issuer', authorization.url], { env })).code).toBe(0);
    expect(authorization.asked).toMatchObject([{ path: '/token', grant_type: 'client_credentials', scope: 'call' }]);
    const { stdout } = await parley(['send', '-a', agent.url, 'x'], { env: { HOME: home.path } });
    expect(stdout).toContain('welcome');
    expect(agent.calls.at(-1)?.headers.authorization).toBe('Bearer granted');
    expect(readFileSync(join(home.path, '.config', 'a2a-cli', 'logins.json'), 'utf8')).not.toContain(
      'pl4nted-s3cret-1',
    );
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

  it('fails with a reason if the card has no scheme for a login', async () => {
    await using agent = await RecordingAgent.start();
    const { code, stderr } = await parley(['auth', 'login', '--client-id', 'cli', '-a', agent.url]);
    expect(stderr).toMatch(/takes no login: its card has no OAuth or OpenID Connect scheme/);
    expect(code).toBe(2);
  });

  describe('sends secrets only to the issuer that the caller names:', () => {
    const secret = { A2ACLI_CLIENT_SECRET: 'pl4nted-s3cret-1' };
    const loginAt = (agent: RecordingAgent, issuer: string) => ({
      args: ['auth', 'login', '--client-id', 'cli', '-a', agent.url],
      env: { ...secret, A2ACLI_ISSUER: issuer },
    });

    it('the endpoints of its discovery document win over those of the card', async () => {
      using home = new EmptyFolder();
      await using issuer = await new AuthorizationServer([token('granted')]).listen();
      await using thief = await new AuthorizationServer([token('stolen')]).listen();
      await using agent = await agentOf(thief, 'clientCredentials');
      const { args, env } = loginAt(agent, issuer.url);
      const login = await parley(args, { env: { ...env, HOME: home.path } });
      expect(login.code).toBe(0);
      expect(thief.requests).toEqual([]);
      expect(issuer.asked).toMatchObject([{ path: '/token', grant_type: 'client_credentials' }]);
      await parley(['send', '-a', agent.url, 'x'], { env: { HOME: home.path } });
      expect(agent.calls.at(-1)?.headers.authorization).toBe('Bearer granted');
    });

    it.each(['clientCredentials', 'deviceCode'] as const)(
      'endpoints of the card are refused on another origin (%s)',
      async (flow) => {
        using home = new EmptyFolder();
        await using issuer = await new AuthorizationServer([token('granted')], false).listen();
        await using thief = await new AuthorizationServer([token('stolen')]).listen();
        await using agent = await agentOf(thief, flow);
        const { args, env } = loginAt(agent, issuer.url);
        const { code, stderr } = await parley(args, { env: { ...env, HOME: home.path } });
        expect(stderr).toContain(`${issuer.url} has no discovery document`);
        expect(code).toBe(2);
        expect([...thief.requests, ...issuer.asked]).toEqual([]);
      },
    );

    it('endpoints of the card are used on the same origin', async () => {
      using home = new EmptyFolder();
      await using issuer = await new AuthorizationServer([token('granted')], false).listen();
      await using agent = await agentOf(issuer, 'clientCredentials');
      const { args, env } = loginAt(agent, issuer.url);
      expect((await parley(args, { env: { ...env, HOME: home.path } })).code).toBe(0);
      expect(issuer.asked).toMatchObject([{ path: '/token' }]);
    });

    it('a device code with a secret needs one origin too', async () => {
      using home = new EmptyFolder();
      await using thief = await new AuthorizationServer([]).listen();
      const card = (url: string) => ({
        securitySchemes: {
          oauth: {
            oauth2SecurityScheme: {
              flows: {
                deviceCode: { tokenUrl: `${url}/token`, deviceAuthorizationUrl: `${thief.url}/device`, scopes: {} },
              },
            },
          },
        },
      });
      await using agent = await RecordingAgent.start({ card });
      const { code, stderr } = await parley(['auth', 'login', '--client-id', 'cli', '-a', agent.url], {
        env: { ...secret, HOME: home.path },
      });
      expect(stderr).toMatch(/hint: --issuer/);
      expect(code).toBe(2);
      expect(thief.requests).toEqual([]);
    });

    it('a stored login is checked before its token is refreshed', async () => {
      using home = new EmptyFolder();
      await using issuer = await new AuthorizationServer([token('granted')]).listen();
      await using thief = await new AuthorizationServer([token('stolen')]).listen();
      await using agent = await agentOf(issuer, 'clientCredentials');
      const { args, env } = loginAt(agent, issuer.url);
      await parley(args, { env: { ...env, HOME: home.path } });
      const file = join(home.path, '.config', 'a2a-cli', 'logins.json');
      const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>;
      const moved = Object.fromEntries(
        Object.entries(kept).map(([origin, login]) => [
          origin,
          { ...login, endpoints: { token: `${thief.url}/token` }, tokens: { accessToken: 'old', renewAt: 0 } },
        ]),
      );
      writeFileSync(file, JSON.stringify(moved));
      const { code, stderr } = await parley(['send', '-a', agent.url, 'x'], { env: { ...secret, HOME: home.path } });
      expect(stderr).toMatch(/is not an (?:endpoint|origin) of .*\nhint: .*auth login/);
      expect(code).toBe(4);
      expect(thief.requests).toEqual([]);
    });
  });

  describe('a token that lacks a scope', () => {
    async function startPeers(home: string) {
      const issuer = await new AuthorizationServer([token('narrow'), token('wide')]).listen();
      const oauth = {
        oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: `${issuer.url}/token`, scopes: {} } } },
      };
      const agent = await RecordingAgent.start({
        card: { securitySchemes: { oauth }, securityRequirements: [{ schemes: { oauth: { list: ['call'] } } }] },
        answer: ({ headers }) =>
          headers.authorization === 'Bearer wide'
            ? result({ message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'welcome' }] } })
            : {
                status: 403,
                headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="call admin"' },
                body: {},
              },
      });
      const env = { HOME: home, A2ACLI_CLIENT_SECRET: 'pl4nted-s3cret-1', A2ACLI_ISSUER: issuer.url };
      await parley(['auth', 'login', '--client-id', 'cli', '-a', agent.url], { env });
      return { issuer, agent, env };
    }

    it('is not widened unless the user allows each scope that the agent names', async () => {
      using home = new EmptyFolder();
      const { issuer, agent, env } = await startPeers(home.path);
      await using _ = issuer;
      await using __ = agent;
      for (const more of [[], ['--step-up', 'other']]) {
        const { code, stderr } = await parley(['send', 'x', '-a', agent.url, ...more], { env });
        expect(stderr).toMatch(/lacks the scopes .*admin; --step-up <scope> allows/);
        expect(code).toBe(4);
      }
      expect(issuer.asked).toHaveLength(1);
    });

    it('is widened if the user allows that, after issuer, scopes and agent are printed', async () => {
      using home = new EmptyFolder();
      const { issuer, agent, env } = await startPeers(home.path);
      await using _ = issuer;
      await using __ = agent;
      const args = ['send', 'x', '-a', agent.url, '--step-up', 'admin', '--step-up', 'call'];
      const { code, stdout, stderr } = await parley(args, { env });
      expect(stderr).toMatch(
        new RegExp(`Asking ${issuer.url} for a token with the scopes .*admin.*, for ${agent.url}`),
      );
      expect(stdout).toContain('welcome');
      expect(code).toBe(0);
      expect(issuer.asked.at(-1)).toMatchObject({ scope: 'admin call' });
    });
  });

  it('ends when the code expires, even if the server asks for a longer pause', async () => {
    using home = new EmptyFolder();
    await using authorization = await new AuthorizationServer([]).listen();
    authorization.device = { expires_in: 1, interval: 1e9 };
    await using agent = await agentOf(authorization, 'deviceCode');
    const args = ['auth', 'login', '--client-id', 'cli', '-a', agent.url];
    const { code, stderr } = await parley(args, { env: { HOME: home.path } });
    expect(stderr).toMatch(/expired_token/);
    expect(code).toBe(4);
  });

  it('prints the authorization server, the agent and the scopes first', async () => {
    using home = new EmptyFolder();
    await using authorization = await new AuthorizationServer([]).listen();
    await using agent = await agentOf(authorization, 'deviceCode');
    const args = ['auth', 'login', '--client-id', 'cli', '-a', agent.url];
    await using login = new RunningParley(args, { env: { HOME: home.path } });
    await login.waitForStderr(/enter the code/);
    const { stderr } = await login.stop();
    expect(stderr).toMatch(
      new RegExp(
        `^Signing in at ${authorization.url}\nFor the agent: ${agent.url}\nScopes: call \\(the card asks for them; --scope names others\\)\n`,
      ),
    );
  });
});
