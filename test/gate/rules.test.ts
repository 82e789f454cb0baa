import { allOf, anyOf, BasicUsers, BearerTokens, ClientCertificates } from 'parley-a2a/auth';
import { createA2AHost, createA2AServer } from 'parley-a2a/node';
import { type Authenticator, createAgentHandler } from 'parley-a2a/server';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentHost } from '../../packages/parley/src/app/agent-host.js';
import type { HostExtension } from '../../packages/parley/src/app/host-extension.js';
import { ANONYMOUS } from '../../packages/parley/src/auth/authenticator.js';
import { PresentedCredentials } from '../../packages/parley/src/auth/presented-credentials.js';
import { BodyBudget } from '../../packages/parley/src/bindings/http/body-budget.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { CountingIds } from '../../packages/parley/test/counting-ids.js';
import { MemoryRequest } from '../../packages/parley/test/exchange-request.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const agent = (prompt: string) => prompt;
const tokens = (token: string) => new BearerTokens([{ token, subject: token }]);
const optional = (token: string): Authenticator => {
  const required = tokens(token);
  return { challenges: required.challenges, optional: true, authenticate: (one) => required.authenticate(one) };
};

function hostOf(options: Omit<Parameters<typeof createA2AHost>[0], 'logger'>) {
  const host = createA2AHost({ ...options, logger: silentLogger, openapi: true });
  closers.push(() => host.close({ graceMs: 0 }));
  const read = (path: string, token?: string, headers: Record<string, string> = {}) =>
    host.fetch(
      new Request(`http://agents.example${path}`, {
        headers: { 'a2a-version': '1.0', ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      }),
    );
  const statuses = async (path: string, given: readonly (string | undefined)[]) =>
    Promise.all(given.map(async (token) => (await read(path, token)).status));
  return { host, read, statuses };
}

describe('the authenticator of an agent', () => {
  it('comes before that of the host, and counts for its mount only', async () => {
    const { statuses } = hostOf({
      agents: { '/own': { agent, authenticator: tokens('of-agent') }, '/plain': { agent } },
      authenticator: tokens('of-host'),
    });
    const given = ['of-agent', 'of-host', undefined];
    expect(await statuses('/own/tasks', given)).toEqual([200, 401, 401]);
    for (const path of ['/plain/tasks', '/docs', '/metrics', '/']) {
      expect([path, await statuses(path, given)]).toEqual([path, [401, 200, 401]]);
    }
    expect(await statuses('/nothing', given)).toEqual([401, 404, 401]);
  });

  it('without one of the host opens the endpoints of the host to its users, and protects no other agent', async () => {
    const { statuses, read } = hostOf({
      agents: {
        '/ada': { agent, authenticator: tokens('ada') },
        '/bob': { agent, authenticator: tokens('bob') },
        '/open': { agent },
      },
    });
    const given = ['ada', 'bob', 'eve', undefined];
    expect(await statuses('/ada/tasks', given)).toEqual([200, 401, 401, 401]);
    expect(await statuses('/open/tasks', given)).toEqual([200, 200, 200, 200]);
    // An open mount keeps its own 404.
    expect(await statuses('/open/nothing', given)).toEqual([404, 404, 404, 404]);
    for (const path of ['/docs', '/openapi.json', '/metrics', '/']) {
      expect([path, await statuses(path, given)]).toEqual([path, [200, 200, 401, 401]]);
    }
    expect(await statuses('/nothing', given)).toEqual([404, 404, 401, 401]);
    expect((await read('/healthz')).status).toBe(200);
  });

  it('lets no user pass whose end is no time: such a credential would never end', async () => {
    const user = { id: 'ada', expiresAt: Date.parse('tomorrow') };
    const authenticator: Authenticator = { challenges: ['X'], authenticate: () => ({ kind: 'user', user }) };
    const { statuses } = hostOf({ agents: { '/agent': { agent, authenticator } } });
    expect(await statuses('/agent/tasks', [undefined])).toEqual([500]);
  });

  it('that is optional takes anonymous callers, and no wrong credential', async () => {
    const { statuses, read } = hostOf({ agents: { '/agent': { agent, authenticator: optional('ada') } } });
    for (const path of ['/agent/tasks', '/docs', '/metrics', '/']) {
      expect([path, await statuses(path, ['ada', 'eve', undefined])]).toEqual([path, [200, 401, 200]]);
    }
    const [known, anonymous] = await Promise.all([read('/agent/tasks', 'ada'), read('/agent/tasks')]);
    expect(known.headers.get('cache-control')).toBe('private, no-store');
    expect(anonymous.headers.get('cache-control')).toBeNull();
    for (const { headers } of [known, anonymous]) expect(headers.get('vary')).toContain('authorization');
  });

  it('is needed for an extended card, at the agent or at the host', () => {
    const agents = { '/': { agent, extendedAgentCard: (card: object) => card as never } };
    expect(() => createA2AHost({ agents })).toThrow(/extendedAgentCard needs an authenticator/);
    const { '/': card } = createA2AHost({ agents, authenticator: tokens('ada') }).agentCards;
    expect(card).toMatchObject({ capabilities: { extendedAgentCard: true }, securitySchemes: { bearer: {} } });
  });

  it('protects a handler behind another host as well', async () => {
    const url = 'https://agents.example';
    const handler = createAgentHandler({ agent, url, authenticator: tokens('ada'), health: true, metrics: true });
    closers.push(() => handler.close());
    for (const [path, status] of [
      ['/', 401],
      ['/metrics', 401],
      ['/readyz', 200],
      ['/a2a/rest/tasks', 401],
    ] as const) {
      expect([path, (await handler.fetch(new Request(`${url}${path}`))).status]).toEqual([path, status]);
    }
  });
});

describe('an endpoint of an extension', () => {
  const extension: HostExtension = {
    endpoints: () => [
      { path: '/made', exchange: async () => ({ status: 200, headers: {} }), without: [] },
      { path: '/shown', exchange: async () => ({ status: 200, headers: {} }), access: 'open', without: [] },
    ],
  };

  function worldOf(authenticator?: Authenticator) {
    const clock = new ManualClock();
    const host = new AgentHost({
      agents: { '/agent': { agent, ...(authenticator && { authenticator }) } },
      storage: new MemoryStorage({ clock }),
      clock,
      ids: new CountingIds(),
      logger: silentLogger,
      bodies: new BodyBudget({ clock }),
      heartbeatMs: 15_000,
      cardMaxAgeSeconds: 60,
      baseUrl: () => 'http://agents.example',
      extensions: [extension],
      logRequests: false,
    });
    closers.push(() => host.close(0));
    return async (url: string) => (await host.exchange(new MemoryRequest({ method: 'GET', url }))).status;
  }

  it('is protected as soon as one agent is, unless it says that it is open', async () => {
    const ask = worldOf(tokens('ada'));
    expect([await ask('/made'), await ask('/shown')]).toEqual([401, 200]);
  });

  it('is open in an open host', async () => {
    expect(await worldOf()('/made')).toBe(200);
  });
});

describe('beyond loopback', () => {
  const listen = async (host: ReturnType<typeof createA2AHost> | ReturnType<typeof createA2AServer>) => {
    closers.push(() => host.close({ graceMs: 0 }));
    return host.listen(0, '0.0.0.0').then(
      () => 'listens',
      (error: Error) => error.message,
    );
  };
  const logger = silentLogger;

  it('a server whose agents are all protected listens', async () => {
    expect(await listen(createA2AServer({ agent, authenticator: tokens('ada'), logger }))).toBe('listens');
    expect(
      await listen(
        createA2AHost({ agents: { '/a': { agent }, '/b': { agent } }, authenticator: tokens('ada'), logger }),
      ),
    ).toBe('listens');
  });

  it('a server with open agents names them, and what to set', async () => {
    const message = await listen(
      createA2AHost({
        agents: {
          '/protected': { agent, authenticator: tokens('ada') },
          '/optional': { agent, authenticator: optional('ada') },
          '/open': { agent },
        },
        logger,
      }),
    );
    expect(message).toMatch(/anybody could call the agents at \/optional, \/open without authentication/);
    expect(message).toMatch(/set an authenticator, or allowAnonymous \(A2A_ALLOW_ANONYMOUS=true\)/);
  });

  it('a server with open agents listens if that is allowed', async () => {
    expect(await listen(createA2AHost({ agents: { '/open': { agent } }, allowAnonymous: true, logger }))).toBe(
      'listens',
    );
  });
});

describe('a cookie that an authenticator reads by itself', () => {
  const session: Authenticator = {
    challenges: ['Session'],
    authenticate: (credentials) =>
      credentials.header('cookie') === 'session=1' ? { kind: 'user', user: { id: 'test|ada' } } : { kind: 'anonymous' },
  };
  const { host } = hostOf({ agents: { '/agent': { agent, authenticator: session } } });
  const ask = async (method: string, headers: Record<string, string>) => {
    const request = new Request('http://agents.example/agent/tasks/x:cancel', {
      method,
      headers: { cookie: 'session=1', 'a2a-version': '1.0', host: 'agents.example', ...headers },
    });
    return (await host.fetch(request)).status;
  };

  it.each([
    ['no word about the page', {}],
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a page of a sibling domain', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['an origin that begins like the own one', { origin: 'http://agents.example.evil' }],
  ])('may change nothing with %s', async (_, headers) => {
    expect(await ask('POST', headers)).toBe(403);
    expect(await ask('DELETE', headers)).toBe(403);
  });

  it.each([
    [{ 'sec-fetch-site': 'same-origin' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'http://agents.example' }],
    [{ origin: 'https://agents.example' }],
  ])('may with %o', async (headers) => {
    expect(await ask('POST', headers)).toBe(404);
  });

  it('may be sent by any page to read', async () => {
    expect(await ask('GET', { 'sec-fetch-site': 'cross-site' })).not.toBe(403);
  });
});

describe('HTTP Basic and certificates, which a browser sends for every page,', () => {
  const certificate = { subject: { CN: ['ada'] }, dnsNames: [], uris: [], emails: [], fingerprint: 'f0'.repeat(32) };
  const own: Authenticator = {
    challenges: ['Basic realm="own"'],
    authenticate: (credentials) =>
      credentials.header('authorization') !== undefined || credentials.clientCertificate !== undefined
        ? { kind: 'user', user: { id: 'test|ada' } }
        : { kind: 'anonymous' },
  };
  const trustedOrigins = ['https://app.example'];
  const authenticators = {
    basic: new BasicUsers([{ subject: 'ada', password: 'pl4nted-s3cret' }], { trustedOrigins }),
    certificates: new ClientCertificates([{ subject: 'ada', commonName: 'ada' }], { trustedOrigins }),
    own,
  };
  /** True if the caller may change something. */
  const may = async (authenticator: Authenticator, headers: Record<string, string>) => {
    const authorization = `Basic ${Buffer.from('ada:pl4nted-s3cret').toString('base64')}`;
    const all: Record<string, string> = { authorization, host: 'agents.example', ...headers };
    const source = { method: 'POST', query: '', header: (name: string) => all[name], clientCertificate: certificate };
    const credentials = new PresentedCredentials(source);
    const found = await authenticator.authenticate(credentials);
    return found.kind === 'user' && (found.pageAllowed === true || !credentials.isCrossSite);
  };
  const cases = Object.entries(authenticators);

  it.each([
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a page of a sibling domain', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
  ])('change nothing for %s', async (_, headers) => {
    for (const [name, one] of cases) expect([name, await may(one, headers)]).toEqual([name, false]);
  });

  it.each([
    ['a caller without a browser', {}],
    ['a page of the server', { 'sec-fetch-site': 'same-origin', origin: 'http://agents.example' }],
    ['a page of the server in an old browser', { origin: 'https://agents.example' }],
  ])('are taken from %s', async (_, headers) => {
    for (const [name, one] of cases) expect([name, await may(one, headers)]).toEqual([name, true]);
  });

  it('are taken from trusted origins', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' };
    expect(await may(authenticators.basic, headers)).toBe(true);
    expect(await may(authenticators.certificates, headers)).toBe(true);
  });

  it('say nothing about a cookie beside them', async () => {
    const session: Authenticator = {
      challenges: ['Session'],
      authenticate: (credentials) =>
        credentials.header('cookie') === 'sid=1' ? { kind: 'user', user: { id: 'sid|ada' } } : { kind: 'anonymous' },
    };
    const evil = { cookie: 'sid=1', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const trusted = { ...evil, origin: 'https://app.example' };
    for (const first of [authenticators.basic, authenticators.certificates]) {
      expect(await may(anyOf(first, session), evil)).toBe(false);
      expect(await may(anyOf(session, first), evil)).toBe(false);
      expect(await may(anyOf(first, session), trusted)).toBe(true);
    }
    const wrong = { ...trusted, authorization: 'Basic YWRhOndyb25n' };
    expect(await may(anyOf(authenticators.basic, session), wrong)).toBe(false);
    expect(await may(allOf(authenticators.basic, session, { differentUsers: true }), trusted)).toBe(false);
  });

  it.each(['user-agent', 'referer', 'accept-language', 'x-forwarded-for', 'sec-ch-ua'])(
    'are not chosen by a page because %s was read too',
    async (name) => {
      const reading: Authenticator = {
        ...own,
        authenticate: (credentials) => (credentials.header(name) === 'x' ? own.authenticate(credentials) : ANONYMOUS),
      };
      const headers = { [name]: 'x', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
      expect(await may(reading, headers)).toBe(false);
    },
  );

  it('are taken with a header that no page of another site can add, and from pages that the authenticator allows', async () => {
    const cross = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const withToken: Authenticator = {
      ...own,
      authenticate: (credentials) =>
        credentials.header('x-csrf-token') === 't' ? own.authenticate(credentials) : ANONYMOUS,
    };
    expect(await may(withToken, { ...cross, 'x-csrf-token': 't' })).toBe(true);
    const allowing: Authenticator = {
      ...own,
      authenticate: (credentials) =>
        credentials.header('authorization') === undefined
          ? ANONYMOUS
          : { kind: 'user', user: { id: 'test|ada' }, pageAllowed: true },
    };
    expect(await may(allowing, cross)).toBe(true);
  });

  it('reach no agent from a page of another site', async () => {
    const { host } = hostOf({ agents: { '/agent': { agent, authenticator: own } } });
    const ask = async (origin: string) => {
      const headers = { authorization: 'Basic YTpi', 'a2a-version': '1.0', host: 'agents.example', origin };
      const request = new Request('http://agents.example/agent/tasks/x:cancel', { method: 'POST', headers });
      return (await host.fetch(request)).status;
    };
    expect(await ask('https://evil.example')).toBe(403);
    expect(await ask('http://agents.example')).toBe(404);
  });
});

describe('a refusal over HTTP+JSON', () => {
  const { read } = hostOf({
    agents: { '/agent': { agent, authenticator: tokens('right'), versions: ['1.0', '0.3'] } },
  });

  it.each([
    ['/agent/v1/tasks/x', { 'a2a-version': '0.3' }, { code: expect.any(Number), message: expect.any(String) }],
    ['/agent/v1/tasks/x', { 'a2a-version': '' }, { code: expect.any(Number), message: expect.any(String) }],
    ['/agent/tasks/x', { 'a2a-version': '1.0' }, { error: { code: 401, status: 'UNAUTHENTICATED' } }],
    ['/agent/v9/nothing', { 'a2a-version': '9.9' }, { error: { code: 401 } }],
  ])('of %s with %o has the form of its version (Spec §11.6)', async (path, headers, body) => {
    const answer = await read(path, 'wrong', headers);
    expect([answer.status, await answer.json()]).toMatchObject([401, body]);
  });
});

describe('an authenticator that fails', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('a secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a secret'))],
  ])('and %s lets nobody in, and tells nothing', async (_, authenticate) => {
    const { read } = hostOf({
      agents: { '/agent': { agent, authenticator: { challenges: ['Bearer'], authenticate } } },
    });
    for (const path of ['/agent/tasks', '/docs']) {
      const answer = await read(path, 'ada');
      expect([answer.status, (await answer.text()).includes('secret')]).toEqual([500, false]);
    }
  });
});
