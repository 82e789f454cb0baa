import { afterEach, beforeEach, expect, it } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import {
  bearerToken,
  clientCredentials,
  type OAuthClientOptions,
  type StepUpRequest,
} from '../../packages/parley/src/exports/credentials.js';
import { PermissionDeniedError } from '../../packages/parley/src/exports/index.js';
import { type AuthorizationServer, CLIENT_SECRET, startAuthorizationServer } from './authorization-server.js';
import { introspectToken, type ProtectedAgent, startProtectedAgent } from './protected-agent.js';

let idp: AuthorizationServer;
let agent: ProtectedAgent;

/** An agent that says with a 403 that it wants the scope `write`. */
beforeEach(async () => {
  idp = await startAuthorizationServer();
  const nameOf = introspectToken(idp.issuer);
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

const requestedScopes = () => idp.tokenRequests.map(({ body: { scope, resource } }) => [scope, resource]);
const refusal = { name: 'PermissionDeniedError', code: 'PERMISSION_DENIED' };

it.each(['JSONRPC', 'HTTP+JSON'])(
  'a token is widened once to the scopes that the caller allows: %s',
  async (binding) => {
    const client = await connect(agent.url, { credentials: machine({ stepUp: ['write', 'read'] }), binding });
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.sendMessage('write')));
    for (const answer of answers) {
      expect(answer).toMatchObject({ message: { parts: [{ text: 'called by machine / read write' }] } });
    }
    await client.sendMessage('write more');
    // The wider token is good for this agent alone (RFC 8707).
    const { url } = client.agentInterface;
    expect(requestedScopes()).toEqual([
      [undefined, undefined],
      ['read write', url],
    ]);
    expect(agent.presented.slice(-1)).not.toEqual(agent.presented.slice(0, 1));
  },
);

it('a token is not widened unless the caller allows that', async () => {
  const client = await connect(agent.url, { credentials: machine() });
  await expect(client.sendMessage('write')).rejects.toMatchObject({
    ...refusal,
    challenges: ['Bearer error="insufficient_scope", scope="read write"'],
  });
  expect(requestedScopes()).toEqual([[undefined, undefined]]);
});

it('a token gets none of the scopes that an agent names and the caller does not allow', async () => {
  const client = await connect(agent.url, { credentials: machine({ stepUp: ['write', 'admin'] }) });
  await expect(client.sendMessage('write')).resolves.toMatchObject({ message: {} });
  const { url } = client.agentInterface;
  expect(requestedScopes()).toEqual([
    [undefined, undefined],
    ['write', url],
  ]);
  const other = await connect(agent.url, { credentials: machine({ stepUp: ['admin'] }) });
  await expect(other.sendMessage('write')).rejects.toMatchObject(refusal);
  expect(requestedScopes()).toHaveLength(3);
});

it('a function that allows is asked once for all calls that wait, with issuer, scopes and agent', async () => {
  const { promise: everybodyWaits, resolve } = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const stepUp = async (wanted: StepUpRequest) => {
    seen.push([wanted, requestedScopes().length]);
    await everybodyWaits;
    return seen.length === 1 ? [] : ['write'];
  };
  let failed = 0;
  const ignoreLine = () => {};
  const debug = (text: string) => {
    if (text === 'call failed') failed += 1;
    if (failed === 5) setImmediate(resolve);
  };
  const client = await connect(agent.url, {
    credentials: machine({ stepUp, scopes: ['read'] }),
    logger: { debug, info: ignoreLine, warn: ignoreLine, error: ignoreLine },
  });
  const { url } = client.agentInterface;
  const refused = await Promise.all(Array.from({ length: 5 }, () => client.sendMessage('write').catch((e) => e)));
  for (const error of refused) expect(error).toMatchObject(refusal);
  expect(seen).toEqual([[{ issuer: idp.issuer, scopes: ['write'], agent: url }, 1]]);
  expect(requestedScopes()).toEqual([['read', undefined]]);
  await expect(client.sendMessage('write')).resolves.toMatchObject({ message: {} });
  expect(requestedScopes().slice(1)).toEqual([['read write', url]]);
});

it('a wider token is for the agent that has named the scopes, and for no other', async () => {
  const credentials = machine({ stepUp: ['read', 'write'] });
  const other = await startProtectedAgent({
    securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    userOf: introspectToken(idp.issuer),
  });
  try {
    await (await connect(agent.url, { credentials })).sendMessage('write');
    await (await connect(other.url, { credentials })).sendMessage('read');
    expect(other.presented).toEqual(agent.presented.slice(0, 1));
  } finally {
    await other.close();
  }
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
