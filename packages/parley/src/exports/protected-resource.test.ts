import { describe, expect, it } from 'vitest';
import { ApiKeys, anyOf, JwtBearer } from './auth.js';
import { createA2AHost } from './node.js';
import { createAgentHandler } from './server.js';

const jwt = () =>
  new JwtBearer({
    issuer: 'https://id.example',
    audience: 'agent',
    keys: { keys: [] },
    requiredScopes: ['read'],
  });
const agent = (prompt: string) => prompt;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function challengeAt(
  { fetch }: { fetch(request: Request): Promise<Response> },
  url: string,
  headers: Record<string, string> = {},
): Promise<readonly [number, string | null]> {
  const response = await fetch(new Request(url, { method: 'POST', headers, body: '{}' }));
  return [response.status, response.headers.get('www-authenticate')];
}

describe('the metadata of a protected resource (RFC 9728)', () => {
  const host = createA2AHost({
    url: 'https://agents.example',
    logger: quiet,
    agents: {
      '/': { agent, name: 'Root', authenticator: jwt() },
      '/both': { agent, authenticator: anyOf(jwt(), new ApiKeys([])) },
      '/open': { agent },
    },
  });
  const read = async (path: string) => {
    const response = await host.fetch(new Request(`https://agents.example${path}`));
    return [response.status, await response.json(), response.headers.get('cache-control')] as const;
  };

  it('is open, with a document for each mount that takes tokens', async () => {
    const [status, metadata, caching] = await read('/.well-known/oauth-protected-resource');
    expect([status, caching]).toEqual([200, 'public, max-age=300']);
    expect(metadata).toEqual({
      resource: 'https://agents.example',
      resource_name: 'Root',
      authorization_servers: ['https://id.example'],
      scopes_supported: ['read'],
      bearer_methods_supported: ['header'],
    });
    expect((await read('/.well-known/oauth-protected-resource/both'))[1]).toMatchObject({
      resource: 'https://agents.example/both',
    });
    expect((await read('/.well-known/oauth-protected-resource/open'))[0]).not.toBe(200);
  });

  it('is named by each Bearer challenge, and only there', async () => {
    const place = 'resource_metadata="https://agents.example/.well-known/oauth-protected-resource';
    expect(await challengeAt(host, 'https://agents.example/a2a/rest/message:send')).toEqual([
      401,
      `Bearer scope="read", ${place}"`,
    ]);
    const [status, challenge] = await challengeAt(host, 'https://agents.example/both/message:send', {
      authorization: 'Bearer a.b.c',
    });
    expect(status).toBe(401);
    expect(challenge).toContain(`Bearer error="invalid_token", ${place}/both"`);
    expect(challenge?.split('resource_metadata')).toHaveLength(2);
  });

  it('is left out while the address of the server is not known', async () => {
    const handler = createAgentHandler({ agent, authenticator: jwt(), logger: quiet });
    const [request, signal] = [{ peer: undefined, local: undefined }, new AbortController().signal];
    const answer = await handler.exchange({
      ...request,
      method: 'POST',
      path: '/a2a/rest/message:send',
      query: '',
      header: () => undefined,
      body: async () => new Uint8Array(),
      signal,
    });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer scope="read"']);
  });
});
