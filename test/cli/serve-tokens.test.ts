import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AuthorizationServer,
  CLIENT_SECRET,
  startAuthorizationServer,
} from '../credentials/authorization-server.js';
import { parley, ServedAgent } from './parley.js';

let idp: AuthorizationServer;
beforeAll(async () => {
  idp = await startAuthorizationServer({ accessTokenFormat: 'jwt' });
});
afterAll(() => idp.close());

const AGENT = 'https://agent.example/';

async function token(): Promise<string> {
  const response = await fetch(`${idp.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`machine:${encodeURIComponent(CLIENT_SECRET)}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: AGENT, scope: 'read' }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function statusOf(url: string, bearer?: string): Promise<number> {
  const response = await fetch(new URL('/a2a/rest/tasks', url), {
    headers: { 'a2a-version': '1.0', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
  });
  await response.text();
  return response.status;
}

describe('parley serve with tokens', () => {
  it('accepts tokens of an OpenID Connect provider, by flags', async () => {
    await using agent = await ServedAgent.start([
      'serve',
      '--echo',
      ...['--oidc-issuer', idp.issuer, '--jwt-audience', AGENT, '--auth-allow-host', '127.0.0.1'],
    ]);
    expect([await statusOf(agent.url), await statusOf(agent.url, await token())]).toEqual([401, 200]);
  });

  it('introspects tokens at an authorization server, by flags or variables', async () => {
    const opaque = await startAuthorizationServer();
    try {
      const response = await fetch(`${opaque.issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`machine:${encodeURIComponent(CLIENT_SECRET)}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read' }),
      });
      const { access_token: bearer } = (await response.json()) as { access_token: string };
      const flags = [
        ...['--introspection-issuer', opaque.issuer, '--introspection-client-id', 'agent'],
        ...['--token-url', `${opaque.issuer}/token`, '--auth-allow-host', '127.0.0.1'],
      ];
      const variables = {
        A2A_INTROSPECTION_ISSUER: opaque.issuer,
        A2A_INTROSPECTION_CLIENT_ID: 'agent',
        A2A_TOKEN_URL: `${opaque.issuer}/token`,
        A2A_AUTH_ALLOW_HOSTS: '127.0.0.1',
      };
      const secret = { A2A_INTROSPECTION_CLIENT_SECRET: CLIENT_SECRET };
      for (const [args, env] of [
        [flags, secret],
        [[], { ...variables, ...secret }],
      ] as const) {
        await using agent = await ServedAgent.start(['serve', '--echo', ...args], { env });
        expect([await statusOf(agent.url, 'unknown'), await statusOf(agent.url, bearer)]).toEqual([401, 200]);
      }
    } finally {
      await opaque.close();
    }
  });

  it.each([
    [['--introspection-issuer', 'https://id.example'], '--introspection-issuer needs --introspection-client-id'],
    [['--token-url', 'https://id.example/token'], '--token-url needs --introspection-issuer'],
    [['--jwt-audience', 'agent'], '--jwt-audience needs --oidc-issuer'],
    [['--oidc-issuer', 'https://id.example'], '--jwt-audience must name this agent'],
    [['--jwks-url', 'https://id.example/keys'], '--jwt-issuer and --jwks-url belong together'],
    [
      ['--oidc-issuer', 'http://id.example', '--jwt-audience', 'agent'],
      'must be an https url; --auth-plain-http=true allows http',
    ],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr } = await parley(['serve', '--echo', '--port', '0', ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
