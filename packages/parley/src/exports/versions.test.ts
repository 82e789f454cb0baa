import { describe, expect, it } from 'vitest';
import { BearerTokens } from './auth.js';
import { createA2AHost } from './node.js';
import { createAgentHandler, type ProtocolVersionName } from './server.js';

const ORIGIN = 'https://agents.example.com';
const echo = (prompt: string) => `Echo: ${prompt}`;
const allVersions: readonly ProtocolVersionName[] = ['0.2.5', '1.0', '0.3'];
const secret = { id: 'secret', name: 'Secret', description: '', tags: [] };

const withExtendedCard = (path: string) =>
  createAgentHandler({
    agent: echo,
    url: ORIGIN,
    path,
    versions: allVersions,
    authenticator: new BearerTokens([{ token: 't', subject: 'ada' }]),
    extendedAgentCard: (card) => ({ ...card, skills: [secret] }),
  });

describe.each(['/', '/agents/echo'])('an agent in all versions at %s', (path) => {
  const below = path === '/' ? '' : path;

  it('lists the newest first, whatever the order of the options, and 0.2 not at all in a card of 1.0', async () => {
    const { agentCard, fetch } = withExtendedCard(path);
    const versionsOf = ({ supportedInterfaces }: typeof agentCard) =>
      supportedInterfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`);
    expect(versionsOf(agentCard)).toEqual(
      ['1.0', '0.3', '0.2'].flatMap((version) => [`JSONRPC ${version}`, `HTTP+JSON ${version}`]),
    );
    const url = `${ORIGIN}${below}/.well-known/agent-card.json`;
    const served = (await (await fetch(new Request(url))).json()) as typeof agentCard & { protocolVersion: string };
    expect(versionsOf(served)).toEqual(['1.0', '0.3'].flatMap((one) => [`JSONRPC ${one}`, `HTTP+JSON ${one}`]));
    expect(served.protocolVersion).toBe('0.3.0');
  });

  it('shows the extended card to who has authenticated, where each version looks for it', async () => {
    const { fetch } = withExtendedCard(path);
    const old = (await (await fetch(new Request(`${ORIGIN}${below}/.well-known/agent.json`))).json()) as {
      url: string;
    };
    const rest = path === '/' ? `${ORIGIN}/a2a/rest` : `${ORIGIN}${path}`;
    // 0.2.5: beside the url of the card, by both ways to read that.
    expect(old.url).toBe(`${ORIGIN}${below}/`);
    const places = [
      [new URL('agent/authenticatedExtendedCard', old.url).href, '0.2.5', '0.2.5'],
      [`${rest}/v1/card`, '0.3', '0.3.0'],
      [`${rest}/extendedAgentCard`, '1.0', undefined],
    ] as const;
    for (const [url, version, protocolVersion] of places) {
      const asked = (headers: object) => fetch(new Request(url, { headers: { 'a2a-version': version, ...headers } }));
      const refused = await asked({});
      expect([url, refused.status, refused.headers.get('www-authenticate')]).toEqual([url, 401, 'Bearer']);
      const shown = await asked({ authorization: 'Bearer t' });
      expect(shown.headers.get('cache-control')).toMatch(/private/);
      const card = (await shown.json()) as { skills: object[]; protocolVersion?: string };
      expect([url, card.protocolVersion, card.skills]).toMatchObject([url, protocolVersion, [{ id: 'secret' }]]);
    }
  });
});

describe('options that are wrong', () => {
  const wrong = (options: object) => () => createAgentHandler({ agent: echo, url: ORIGIN, ...options } as never);

  it.each([[['2.0']], [['1.0', '0.4']], [['latest']], [[1]]])('versions %j: those there are are named', (versions) => {
    expect(wrong({ versions })).toThrow(/versions\[\d\]: must be one of 1\.0, 0\.3, 0\.2\.5/);
  });

  it('versions: at least one, each once', () => {
    expect(wrong({ versions: [] })).toThrow(/versions/);
    expect(wrong({ versions: ['1.0', '1.0'] })).toThrow(/each version once/);
  });

  it('sameAs: an agent that is there, with options of its own', () => {
    const host = (agents: object) => () => createA2AHost({ agents } as never);
    const there = { '/': { agent: echo } };
    expect(host({ ...there, '/a': { sameAs: '/b' } })).toThrow(/\/a is sameAs "\/b", where no agent has its options/);
    expect(host({ ...there, '/a': { sameAs: '/' }, '/b': { sameAs: '/a' } })).toThrow(/\/b is sameAs "\/a"/);
    expect(host({ ...there, '/a': { sameAs: '/', versions: ['3.0'] } })).toThrow(/must be one of 1\.0, 0\.3, 0\.2\.5/);
    expect(host({ ...there, '/a': { sameAs: '/', name: 'x' } })).toThrow(/unknown option "name"/);
  });
});

it('an agent under two paths has one card and one set of tasks, in the versions of each', async () => {
  const host = createA2AHost({
    agents: { '/': { agent: echo, name: 'Echo' }, '/current': { sameAs: '/', versions: ['1.0'] } },
    url: ORIGIN,
  });
  expect(host.agentCards['/current']).toMatchObject({ name: 'Echo' });
  expect(host.agentCards['/current']?.supportedInterfaces).toHaveLength(2);
  const post = (path: string, method: string, params: object) =>
    host.fetch(
      new Request(`${ORIGIN}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    );
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
  const sent = (await (await post('/', 'message/send', { message })).json()) as { result: { id: string } };
  const read = await host.fetch(
    new Request(`${ORIGIN}/current/tasks/${sent.result.id}`, { headers: { 'a2a-version': '1.0' } }),
  );
  expect(await read.json()).toMatchObject({ id: sent.result.id, status: { state: 'TASK_STATE_COMPLETED' } });
  expect(await (await post('/current', 'message/send', { message })).json()).toMatchObject({ error: { code: -32009 } });
  await host.close();
});
