import { allOf, optional } from 'parley-a2a/auth';
import { connect } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import { type Authenticator, inProcess } from 'parley-a2a/server';
import { describe, expect, it } from 'vitest';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';
import { jsonOf } from '../../packages/parley/test/exchange-request.js';

/** An authenticator in JavaScript without types, which may answer anything. */
function answerWith(answer: object): Authenticator {
  return { challenges: ['Bearer'], authenticate: () => ({ kind: 'user', ...answer }) as never };
}

const ISO = '2020-01-01T00:00:00Z';
const ada = { id: 'test|ada' };

describe('the answer of an authenticator', () => {
  it.each<[string, object]>([
    ['expiresAt', { user: { ...ada, expiresAt: ISO } }],
    ['expiresAt', { user: { ...ada, expiresAt: null } }],
    ['expiresAt', { user: { ...ada, expiresAt: Number.NaN } }],
    ['expiresAt', { user: { ...ada, expiresAt: new Date(0) } }],
    ['askAgainAt', { user: ada, askAgainAt: ISO }],
    ['askAgainAt', { user: ada, askAgainAt: Number.NaN }],
    ['id', { user: { id: 5 } }],
    ['id', { user: { id: '' } }],
    ['scopes', { user: { ...ada, scopes: 'read' } }],
  ])('with a wrong %s lets no call pass, and the log names it: %j', async (member, answer) => {
    for (const authenticator of [answerWith(answer), allOf(answerWith({ user: ada }), answerWith(answer))]) {
      const agent = new BoundAgent({ authenticator });
      expect(await jsonOf(await agent.rpc('SendMessage', HELLO))).toMatchObject({ error: { code: -32603 } });
      expect((await agent.call('POST /message:send', { body: HELLO })).status).toBe(500);
      expect(agent.handler.calls).toEqual([]);
      const errors = agent.log.filter(({ level }) => level === 'error');
      expect(String(errors[0]?.fields?.error)).toContain(`An authenticator gave a wrong ${member}`);
    }
  });

  it('with half a surrogate pair in the id is a credential that cannot be used', async () => {
    const users = [
      answerWith({ user: { id: 'test|\ud800' } }),
      optional(answerWith({ user: { id: 'test|\ud800' } })),
      allOf(answerWith({ user: { id: 'test|\ud800' } }), answerWith({ user: { id: 'test|\ud800' } })),
    ];
    for (const authenticator of users) {
      const agent = new BoundAgent({ authenticator });
      expect(await jsonOf(await agent.rpc('SendMessage', HELLO))).toMatchObject({ error: { code: -31401 } });
      const answer = await agent.call('POST /message:send', { body: HELLO });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      expect(agent.handler.calls).toEqual([]);
      expect(agent.log).toContainEqual(
        expect.objectContaining({ fields: expect.objectContaining({ reason: 'the id is not well-formed Unicode' }) }),
      );
      expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
    }
  });
});

it.each<[string, object]>([
  ['expiresAt', { ...ada, expiresAt: ISO }],
  ['expiresAt', { ...ada, expiresAt: new Date() }],
  ['id', { id: 'test|\ud800' }],
  ['tenants', { ...ada, tenants: 'acme' }],
])('a user in the process with a wrong %s is refused before the first call: %j', async (member, user) => {
  const server = createA2AServer({ agent: (prompt: string) => prompt });
  await expect(connect(inProcess(server, { user: user as never }))).rejects.toThrow(`user.${member}: must be`);
  await server.close();
});
