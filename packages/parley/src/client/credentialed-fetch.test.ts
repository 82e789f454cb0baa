import { expect, it } from 'vitest';
import type { CredentialProvider } from '../auth/credential-provider.js';
import { silentLogger } from '../telemetry/logger.js';
import { CredentialGuard } from './credential-guard.js';
import { credentialedFetch, type PlainFetch } from './credentialed-fetch.js';

const card = {
  name: 'Agent',
  description: '',
  version: '1',
  supportedInterfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

/** A provider whose first token is refused. */
function createRenewing(): CredentialProvider {
  let token = 1;
  return {
    credentials: async () => ({ headers: { authorization: `Bearer ${token}` }, query: { key: 'k' } }),
    refused: async () => ++token === 2,
  };
}

function createFetch(answers: readonly number[]) {
  const sent: { url: string; headers: Headers }[] = [];
  const send: PlainFetch = async (url, init) => {
    sent.push({ url, headers: new Headers(init.headers) });
    return new Response('', { status: answers[sent.length - 1] ?? 200 });
  };
  const trusted = new Set(['https://agent.example']);
  const guard = new CredentialGuard({ provider: createRenewing(), card: () => card, trusted, logger: silentLogger });
  return { sent, fetch: credentialedFetch(guard, send) };
}

it('adds credentials, and repeats a refused request once with others', async () => {
  const { sent, fetch } = createFetch([401, 401]);
  const response = await fetch('https://agent.example/rpc?a=1', { headers: { 'X-Own': '1' } });
  expect(response.status).toBe(401);
  expect(sent.map(({ url }) => url)).toEqual(Array(2).fill('https://agent.example/rpc?a=1&key=k'));
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 1', 'Bearer 2']);
  expect(sent.map(({ headers }) => headers.get('x-own'))).toEqual(['1', '1']);
});

it('sends neither credentials nor headers named like them to an origin that is not trusted', async () => {
  const { sent, fetch } = createFetch([401]);
  await fetch('https://other.example/', { headers: { 'x-api-key': 's', 'x-own': '1' } });
  expect(sent).toHaveLength(1);
  expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({ 'x-own': '1' });
});
