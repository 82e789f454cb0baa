import { describe, expect, it } from 'vitest';
import { decodeAgentCard } from '../../packages/parley/src/codec/client-codecs.js';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import {
  type AgentHandlerOptions,
  type AgentOptions,
  createAgentHandler,
} from '../../packages/parley/src/exports/server.js';

const url = 'https://agent.example';
const TOKEN = 'right-token-0123456789';

/** The answers of an agent as JSON. */
function answersOf(options: Partial<AgentHandlerOptions> = {}) {
  const { fetch } = createAgentHandler({
    url,
    agent: (prompt: string) => prompt,
    versions: ['1.0', '0.3', '0.2.5'],
    ...options,
  } as AgentOptions & { readonly url: string });
  return async (path: string, headers: Readonly<Record<string, string>> = {}, call?: object) => {
    const body = call && JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
    const request = new Request(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    });
    return JSON.parse(await (await fetch(request)).text()) as Readonly<Record<string, unknown>>;
  };
}

describe('version 0.4, as some call their build of 0.3', () => {
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] };

  it('is served as 0.3', async () => {
    const ask = answersOf();
    for (const version of ['0.4', '0.4.1', '0.3']) {
      const call = { method: 'message/send', params: { message } };
      expect(await ask('/a2a/jsonrpc', { 'a2a-version': version }, call)).toMatchObject({ result: { kind: 'task' } });
      const rest = await ask('/a2a/rest/v1/tasks/none', { 'a2a-version': version });
      expect(rest).toMatchObject({ code: -32001 });
    }
    const refused = await ask(
      '/a2a/jsonrpc',
      { 'a2a-version': '0.5' },
      { method: 'message/send', params: { message } },
    );
    expect(refused).toMatchObject({ error: { code: -32009 } });
  });

  it('of a card is read as 0.3', async () => {
    const card = {
      name: 'A',
      protocolVersion: '0.4.0',
      url,
      preferredTransport: 'JSONRPC',
      capabilities: {},
      skills: [],
    };
    expect((await decodeAgentCard(card)).supportedInterfaces).toEqual([
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ]);
  });
});

it('SetPushNotificationConfig is another name of the create method', async () => {
  const call = { method: 'SetPushNotificationConfig', params: { taskId: 't', url: 'https://hook.example' } };
  expect(await answersOf()('/a2a/jsonrpc', { 'a2a-version': '1.0' }, call)).toMatchObject({ error: { code: -32003 } });
});

it('the extended card at the path of 0.2.5 says that version', async () => {
  const options: Partial<AgentHandlerOptions> = {
    authenticator: new BearerTokens([{ token: TOKEN, subject: 's' }]),
    extendedAgentCard: (card) => card,
  };
  const headers = { authorization: `Bearer ${TOKEN}` };
  const atRoot = await answersOf(options)('/agent/authenticatedExtendedCard', headers);
  expect(atRoot.protocolVersion).toBe('0.2.5');
  const mounted = answersOf({ ...options, path: '/echo' });
  expect((await mounted('/echo/agent/authenticatedExtendedCard', headers)).protocolVersion).toBe('0.2.5');
  expect((await mounted('/echo/v1/card', headers)).protocolVersion).toBe('0.3.0');
});

describe('security requirements of an author', () => {
  const requirement = { schemes: { bearer: { list: ['read'] } } };
  const options = {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [requirement],
    skills: [{ id: 's', name: 'S', description: 'S', securityRequirements: [requirement] }],
    gatewayAuthenticates: true,
  };

  it('are on card and skills, in the words of each version', async () => {
    const ask = answersOf(options);
    const card = '/.well-known/agent-card.json';
    const expected = { securityRequirements: [requirement], skills: [{ securityRequirements: [requirement] }] };
    expect(await ask(card, { 'a2a-version': '1.0' })).toMatchObject(expected);
    const security = [{ bearer: ['read'] }];
    expect(await ask(card)).toMatchObject({ security, skills: [{ security }] });
    expect(await answersOf({ ...options, versions: ['0.3'] })(card)).toMatchObject({
      security,
      skills: [{ security }],
    });
  });

  it('name declared schemes only', () => {
    expect(() => answersOf({ ...options, securitySchemes: {} })).toThrow(/securityRequirements/);
    expect(() => answersOf({ ...options, securitySchemes: {} })).toThrow('bearer');
  });
});

describe('addresses in a card', () => {
  const cardWith = (address: string) => ({
    name: 'A',
    supportedInterfaces: [{ url: address, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });

  it.each([
    'data:text/plain,x',
    'file:///etc/passwd',
    ' FILE:///x',
    'da\nta:x',
    'blob:x',
    `https://a.example/${'x'.repeat(2048)}`,
  ])('are no content, no file, and at most 2 kB: %s', async (address) => {
    const old = { name: 'A', protocolVersion: '0.3.0', url: address, capabilities: {}, skills: [] };
    for (const card of [cardWith(address), old]) expect((await decodeAgentCard(card)).supportedInterfaces).toEqual([]);
  });

  it.each(['https://a.example/x', 'http://localhost:1', 'grpc.example:443', 'localhost:50051'])(
    'may be %s',
    async (address) => {
      expect((await decodeAgentCard(cardWith(address))).supportedInterfaces).toMatchObject([{ url: address }]);
    },
  );
});
