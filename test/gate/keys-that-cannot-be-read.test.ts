import { JwtBearer } from 'parley-a2a/auth';
import { bearerToken } from 'parley-a2a/credentials';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type A2AHost, createA2AHost } from '../../packages/parley/src/exports/node.js';
import { BINDINGS } from '../matrix/every-binding/bindings.js';

const ISSUER = 'http://127.0.0.1:1';
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const exp = Math.floor(Date.now() / 1000) + 3_600;
const TOKEN = `${part({ alg: 'ES256', kid: 'k' })}.${part({ iss: ISSUER, aud: 'agent', sub: 'ada', exp })}.${'A'.repeat(86)}`;

describe('a token whose keys cannot be read', () => {
  let host: A2AHost;

  beforeAll(async () => {
    const options = { issuer: ISSUER, audience: 'agent', jwksUrl: `${ISSUER}/jwks`, allow: ['127.0.0.1'] };
    host = createA2AHost({
      agents: { '/': { agent: (prompt: string) => prompt, versions: ['1.0', '0.3'] } },
      authenticator: new JwtBearer(options),
      bindings: BINDINGS.flatMap(({ serves }) => serves?.(['/']) ?? []),
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    await host.listen(0);
  });

  afterAll(async () => {
    await host.close({ graceMs: 0 });
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    host.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'a2a-version': '1.0',
          authorization: `Bearer ${TOKEN}`,
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    );

  it.each([
    ['JSON-RPC', '/', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't' } }],
    ['JSON-RPC of 0.3', '/', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 't' } }],
    ['HTTP+JSON', '/message:send', {}],
  ])('gets 503 and Retry-After over %s', async (name, path, body) => {
    const answer = await post(path, body);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    const { error } = (await answer.json()) as { error: { code: number; message: string } };
    expect(error.code).toBe(name.startsWith('JSON-RPC') ? -32603 : 503);
    expect(error.message).toContain('cannot be read now');
  });

  it.each(BINDINGS)('is unavailable for a client over $name', async (binding) => {
    const [version = '1.0'] = binding.versions;
    const outcome = binding
      .connect({ host, path: '/', version, options: { credentials: bearerToken(TOKEN) } } as never)
      .then((client) => client.getTask('t').finally(() => client.close()));
    await expect(outcome).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
