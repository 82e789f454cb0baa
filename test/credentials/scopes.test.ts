import { afterEach, beforeEach, expect, it } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import {
  bearerToken,
  clientCredentials,
  type OAuthClientOptions,
} from '../../packages/parley/src/exports/credentials.js';
import { PermissionDeniedError } from '../../packages/parley/src/exports/index.js';
import { type AuthorizationServer, CLIENT_SECRET, startAuthorizationServer } from './authorization-server.js';
import { introspected, type ProtectedAgent, startProtectedAgent } from './protected-agent.js';

let idp: AuthorizationServer;
let agent: ProtectedAgent;

/** An agent that says with a 403 that it wants the scope `write`. */
beforeEach(async () => {
  idp = await startAuthorizationServer();
  const nameOf = introspected(idp.issuer);
  agent = await startProtectedAgent({
    securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    userOf: async (presented) => {
      const name = presented === 'Bearer fixed' ? 'fixed / read' : await nameOf(presented);
      if (name?.includes('write') !== false) return name;
      throw new PermissionDeniedError('This takes the scope write', [
        'Bearer error="insufficient_scope", scope="read write"',
      ]);
    },
  });
});
afterEach(async () => {
  await agent.close();
  await idp.close();
});

const machine = (more: Partial<OAuthClientOptions> = {}) =>
  clientCredentials({ issuer: idp.issuer, clientId: 'machine', clientSecret: CLIENT_SECRET, ...more });

it.each(['JSONRPC', 'HTTP+JSON'])('a token is widened once to the scopes that an agent names: %s', async (binding) => {
  const client = await connect(agent.url, { credentials: machine(), binding });
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.sendMessage('write')));
  for (const answer of answers) {
    expect(answer).toMatchObject({ message: { parts: [{ text: 'called by machine / read write' }] } });
  }
  await client.sendMessage('write more');
  expect(idp.tokenRequests.map(({ body }) => body.scope)).toEqual([undefined, 'read write']);
  expect(agent.presented.slice(-1)).not.toEqual(agent.presented.slice(0, 1));
});

it('a token is never wider than the caller allows', async () => {
  const client = await connect(agent.url, { credentials: machine({ scopes: ['read'] }) });
  await expect(client.sendMessage('write')).rejects.toMatchObject({
    name: 'PermissionDeniedError',
    code: 'PERMISSION_DENIED',
    challenges: ['Bearer error="insufficient_scope", scope="read write"'],
  });
  expect(idp.tokenRequests.map(({ body }) => body.scope)).toEqual(['read']);
  expect(agent.presented).toHaveLength(1);
});

it('a token that does not change is not sent twice', async () => {
  const client = await connect(agent.url, { credentials: bearerToken('fixed') });
  await expect(client.sendMessage('write')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(agent.presented).toHaveLength(1);
});
