import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeys, allOf, anyOf, mayUseSkill, optional } from '../../packages/parley/src/exports/auth.js';
import { type AgentHandlerOptions, createAgentHandler } from '../../packages/parley/src/exports/server.js';

const keys = new ApiKeys([
  { key: 'plain', subject: 'ada' },
  { key: 'reader', subject: 'bob', scopes: ['read'] },
  { key: 'writer', subject: 'eve', scopes: ['read', 'write'] },
]);
const devices = new ApiKeys([{ key: 'device', subject: 'tablet' }], {
  place: { location: 'header', name: 'X-Device' },
  schemeName: 'device',
});

function agentOf(options: Partial<AgentHandlerOptions>) {
  const handler = createAgentHandler({
    url: 'https://agent.example',
    agent: (_: string, { user }: { user?: { id: string } }) => `hello ${user?.id ?? 'anonymous'}`,
    ...options,
  } as AgentHandlerOptions);
  onTestFinished(() => handler.close({ graceMs: 0 }));
  const send = async (headers: Readonly<Record<string, string>>) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
    const response = await handler.fetch(
      new Request('https://agent.example/a2a/rest/message:send', {
        method: 'POST',
        headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0', ...headers },
        body: JSON.stringify({ message }),
      }),
    );
    return {
      status: response.status,
      text: await response.text(),
      challenge: response.headers.get('www-authenticate'),
    };
  };
  return { card: handler.agentCard, send, fetch: handler.fetch };
}

describe('the requirements of a card', () => {
  it('come from its authenticator, in 0.3 as security (Spec §4.5)', async () => {
    const { card, fetch } = agentOf({ authenticator: anyOf(allOf(keys, devices), devices) });
    expect(card.securityRequirements).toEqual([{ schemes: { apiKey: {}, device: {} } }, { schemes: { device: {} } }]);
    const old = await fetch(new Request('https://agent.example/.well-known/agent.json'));
    expect(await old.json()).toMatchObject({ security: [{ apiKey: [], device: [] }, { device: [] }] });
  });

  it('say that anonymous callers are welcome if the authenticator is optional', () => {
    const { card } = agentOf({ authenticator: optional(keys) });
    expect(card.securityRequirements).toEqual([{ schemes: { apiKey: {} } }, { schemes: {} }]);
  });

  it('are enforced if the author gives them (Spec §7.4)', async () => {
    const { send } = agentOf({
      authenticator: anyOf(keys, devices),
      securityRequirements: [{ schemes: { apiKey: { list: ['write'] } } }],
    });
    expect(await send({ 'x-api-key': 'writer' })).toMatchObject({ status: 200 });
    const lacking = await send({ 'x-api-key': 'reader' });
    expect(lacking).toMatchObject({ status: 403, challenge: 'Bearer error="insufficient_scope", scope="write"' });
    expect(lacking.text).toContain('the scope write');
    expect(await send({ 'x-device': 'device' })).toMatchObject({ status: 401 });
    expect(await send({})).toMatchObject({ status: 401 });
  });
});

describe('the requirements of skills', () => {
  const reading = { id: 'read', name: 'Read', description: 'Reads', securityRequirements: needs('read') };
  const writing = { id: 'write', name: 'Write', description: 'Writes', securityRequirements: needs('write') };

  function needs(scope: string) {
    return [{ schemes: { apiKey: { list: [scope] } } }];
  }

  it('refuse a message from a user who may use none of them, with the scope (Spec §3.3.2)', async () => {
    const { send } = agentOf({ authenticator: keys, skills: [reading, writing] });
    const refused = await send({ 'x-api-key': 'plain' });
    expect(refused).toMatchObject({ status: 403, challenge: expect.stringContaining('scope="read"') });
    expect(await send({ 'x-api-key': 'reader' })).toMatchObject({ status: 200 });
  });

  it('refuse no message if one skill needs nothing', async () => {
    const open = { id: 'open', name: 'Open', description: 'Open' };
    const { send } = agentOf({ authenticator: keys, skills: [reading, open] });
    expect(await send({ 'x-api-key': 'plain' })).toMatchObject({ status: 200 });
  });

  it('tell the agent which skills a user may use', async () => {
    const skills = [reading, writing];
    const { send } = agentOf({
      authenticator: keys,
      skills,
      agent: (_, { user }) =>
        skills
          .filter((skill) => mayUseSkill(user, skill))
          .map(({ id }) => id)
          .join(),
    });
    expect((await send({ 'x-api-key': 'reader' })).text).toContain('"read"');
    expect((await send({ 'x-api-key': 'writer' })).text).toContain('"read,write"');
  });
});

describe('an optional authenticator', () => {
  const needsKey = [{ schemes: { apiKey: {} } }];

  it('lets no anonymous caller in if all requirements of the card ask for a credential', async () => {
    const { send } = agentOf({ authenticator: optional(keys), securityRequirements: needsKey });
    expect(await send({})).toMatchObject({ status: 401 });
    expect(await send({ 'x-api-key': 'plain' })).toMatchObject({ status: 200 });
  });

  it('lets anonymous callers in if one requirement asks for nothing', async () => {
    const { send } = agentOf({ authenticator: optional(keys), securityRequirements: [...needsKey, { schemes: {} }] });
    expect(await send({})).toMatchObject({ status: 200 });
  });
});
