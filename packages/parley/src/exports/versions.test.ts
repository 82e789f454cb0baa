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
      const fetchWith = (headers: object) =>
        fetch(new Request(url, { headers: { 'a2a-version': version, ...headers } }));
      const refused = await fetchWith({});
      expect([url, refused.status, refused.headers.get('www-authenticate')]).toEqual([url, 401, 'Bearer']);
      const shown = await fetchWith({ authorization: 'Bearer t' });
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

describe('strict versions', () => {
  const message10 = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const message03 = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
  type Served = Pick<ReturnType<typeof createAgentHandler>, 'fetch'>;
  const strict = (options: object = {}) =>
    createAgentHandler({ agent: echo, url: ORIGIN, strictVersions: true, versions: allVersions, ...options } as never);
  const headersOf = (version: string | undefined) => ({
    'content-type': 'application/json',
    ...(version !== undefined && { 'a2a-version': version }),
  });

  /** The number, the reason and the metadata of an answer; `ok` for a result. */
  async function rpc({ fetch }: Served, method: string, version: string | undefined, query = '') {
    const message = method.startsWith('S') ? message10 : message03;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } });
    const request = new Request(`${ORIGIN}/${query}`, { method: 'POST', headers: headersOf(version), body });
    const text = await (await fetch(request)).text();
    const { error } = JSON.parse(text.split('\n\n', 1)[0]?.replace(/^(?:id: .*\n)?data: /, '') ?? '') as {
      error?: { code: number; message: string; data: { reason: string; metadata: object }[] };
    };
    return error === undefined ? 'ok' : { ...error.data[0]?.metadata, code: error.code, message: error.message };
  }

  async function rest({ fetch }: Served, path: string, version: string | undefined, query = '') {
    const message = path.startsWith('/v1')
      ? { ...message03, role: 'ROLE_USER', content: [{ text: 'hi' }], parts: undefined, kind: undefined }
      : message10;
    const url = `${ORIGIN}/a2a/rest${path}${query}`;
    const body = JSON.stringify({ message });
    const answer = await fetch(new Request(url, { method: 'POST', headers: headersOf(version), body }));
    if (answer.ok) return 'ok';
    return `${answer.status} ${/VERSION_NOT_SUPPORTED/.exec(await answer.text())?.[0]}`;
  }

  const REFUSED_10 = {
    code: -32009,
    requestedVersion: '0.3',
    supportedVersions: '1.0',
    message: 'A2A version 0.3 is not supported here; supported: 1.0',
  };
  const UNNAMED = {
    ...REFUSED_10,
    message: 'A call without A2A-Version is for A2A version 0.3, which is not supported here; supported: 1.0',
  };
  const REFUSED_03 = { code: -32009, requestedVersion: '1.0', supportedVersions: expect.stringMatching(/^0\.3/) };

  it.each(['SendMessage', 'SendStreamingMessage'])(
    'refuse %s to a caller that says 0.3, or nothing',
    async (method) => {
      const served = strict();
      expect(await rpc(served, method, '1.0')).toBe('ok');
      expect(await rpc(served, method, '1.0.1')).toBe('ok');
      expect(await rpc(served, method, undefined, '?A2A-Version=1.0')).toBe('ok');
      expect(await rpc(served, method, '0.3')).toEqual(REFUSED_10);
      expect(await rpc(served, method, '0.3.0')).toEqual(REFUSED_10);
      expect(await rpc(served, method, '', '?A2A-Version=0.3')).toEqual(REFUSED_10);
      expect(await rpc(served, method, undefined)).toEqual(UNNAMED);
      expect(await rpc(served, method, '')).toEqual(UNNAMED);
    },
  );

  it.each(['message/send', 'message/stream'])('refuse %s to a caller that says 1.0', async (method) => {
    const served = strict();
    for (const version of ['0.3', '0.3.0', '', undefined, '0.4']) expect(await rpc(served, method, version)).toBe('ok');
    expect(await rpc(served, method, '1.0')).toMatchObject(REFUSED_03);
    expect(await rpc(served, method, undefined, '?A2A-Version=1.0')).toMatchObject(REFUSED_03);
  });

  it('do not hide an unknown method', async () => {
    expect(await rpc(strict(), 'Send', '1.0')).toMatchObject({ code: -32601 });
    expect(await rpc(strict(), 'send', undefined)).toMatchObject({ code: -32601 });
  });

  it.each(['/message:send', '/message:stream'])('hold for routes over HTTP+JSON too: %s', async (path) => {
    const served = strict();
    expect(await rest(served, path, '1.0')).toBe('ok');
    expect(await rest(served, path, undefined, '?A2A-Version=1.0')).toBe('ok');
    for (const version of ['0.3', '', undefined]) {
      expect(await rest(served, path, version)).toBe('400 VERSION_NOT_SUPPORTED');
      expect(await rest(served, `/v1${path}`, version)).toBe('ok');
    }
    expect(await rest(served, `/v1${path}`, '1.0')).toBe('400 VERSION_NOT_SUPPORTED');
    expect(await rest(served, '/nothing', undefined)).toBe('404 undefined');
  });

  it('are off by default', async () => {
    const served = createAgentHandler({ agent: echo, url: ORIGIN, versions: allVersions });
    for (const version of ['1.0', '0.3', undefined]) {
      expect(await rpc(served, 'SendMessage', version)).toBe('ok');
      expect(await rest(served, '/message:send', version)).toBe('ok');
    }
  });

  it('leave an agent that speaks one version alone as it is', async () => {
    const current = strict({ versions: ['1.0'] });
    expect([await rpc(current, 'SendMessage', '1.0'), await rest(current, '/message:send', '1.0')]).toEqual([
      'ok',
      'ok',
    ]);
    expect(await rpc(current, 'SendMessage', undefined)).toEqual(UNNAMED);
    for (const versions of [['0.3'], ['0.2.5']]) {
      const old = strict({ versions });
      expect(await rpc(old, 'message/send', undefined)).toBe('ok');
      expect(await rest(old, '/v1/message:send', undefined)).toBe('ok');
    }
  });

  it('hold for every path of an agent, and for no other agent', async () => {
    const host = createA2AHost({
      agents: {
        '/': { agent: echo, strictVersions: true },
        '/same': { sameAs: '/', versions: ['1.0', '0.3'] },
        '/other': { agent: echo },
      },
      url: ORIGIN,
    });
    const codes = [];
    for (const path of ['/', '/same', '/other']) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message10 } });
      const answer = await host.fetch(new Request(ORIGIN + path, { method: 'POST', headers: headersOf('0.3'), body }));
      codes.push(((await answer.json()) as { error?: { code: number } }).error?.code);
    }
    expect(codes).toEqual([-32009, -32009, undefined]);
    await host.close();
  });

  it('contradict another version for callers that name none', () => {
    expect(() => strict({ versionWhenAbsent: '1.0' })).toThrow(
      'strictVersions counts a call without A2A-Version as one of 0.3, and versionWhenAbsent as one of 1.0: leave one out',
    );
    expect(() => strict({ versionWhenAbsent: '0.3' })).not.toThrow();
    expect(() => strict({ strictVersions: 'yes' })).toThrow(/strictVersions: must be true or false/);
  });

  it('stand in the description of the server', async () => {
    const parameterOf = async (options: object) => {
      const host = createA2AHost({ agents: { '/': { agent: echo, ...options } }, url: ORIGIN, openapi: true });
      const { paths } = (await (await host.fetch(new Request(`${ORIGIN}/openapi.json`))).json()) as {
        paths: Record<string, { post: { parameters: { name: string; required: boolean; description: string }[] } }>;
      };
      await host.close();
      return ['/a2a/rest/message:send', '/a2a/rest/v1/message:send', '/a2a/jsonrpc'].map((path) => {
        const one = paths[path]?.post.parameters.find(({ name }) => name === 'A2A-Version');
        return [one?.required, one?.description.replace(/ It may stand.*/, '')];
      });
    };
    expect(await parameterOf({ strictVersions: true })).toEqual([
      [true, 'The version of the protocol, 1.0. A call without it is refused.'],
      [false, 'The version of the protocol, 0.3. A call without it is one of the newest version before 1.0.'],
      [false, 'The version of the protocol, 1.0 or 0.3. A call without it is one of the newest version before 1.0.'],
    ]);
    expect(await parameterOf({})).toEqual([
      [false, 'The version of the protocol, 1.0 or 0.3. It may be left out if the version follows from the call.'],
      [false, 'The version of the protocol, 0.3. It may be left out if the version follows from the call.'],
      [false, 'The version of the protocol, 1.0 or 0.3. It may be left out if the version follows from the call.'],
    ]);
  });
});
