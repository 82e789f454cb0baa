import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkedConnections } from '../../packages/parley/src/adapters/node/checked-connections.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { type GuardedFetchOptions, guardedFetch } from '../../packages/parley/src/net/guarded-fetch.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { makeAuthority } from '../credentials/certificates.js';
import { WatchedListener } from './watched-listener.js';

let listener: WatchedListener;
beforeAll(async () => {
  listener = await WatchedListener.open();
});
afterAll(() => listener[Symbol.asyncDispose]());
beforeEach(() => {
  listener.connections.length = 0;
  listener.requests.length = 0;
  listener.answer = (_, response) => void response.end('ok');
});

/** 127.0.0.2 and 127.0.0.3 stand for public addresses. */
const createGuardedFetch = (options: Partial<GuardedFetchOptions> & { readonly ca?: string } = {}) =>
  guardedFetch({
    clock: systemClock,
    allow: ['127.0.0.2', '127.0.0.3'],
    connections: checkedConnections(options.ca === undefined ? {} : { ca: options.ca }),
    ...options,
  });
const at = (address: string, path = '/') => `http://${address}:${listener.port}${path}`;

/** Redirects /1 to /2 and so on, and the last hop to a target. */
const redirectAfter = (hops: number, target: string, status = 302) => {
  listener.answer = ({ url = '' }, response) => {
    const step = Number(url.slice(1));
    if (!(step <= hops)) return void response.end('end');
    response.writeHead(status, { location: step === hops ? target : `/${step + 1}` }).end();
  };
};

describe('redirects of a GET', () => {
  it.each([1, 2, 3])('to an address that is not allowed are refused at hop %d', async (hops) => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433']) {
      redirectAfter(hops, at(host, '/secret'));
      await expect(createGuardedFetch()(at('127.0.0.2', '/1'), {})).rejects.toThrow('is not called');
    }
    expect(new Set(listener.connections)).toEqual(new Set(['127.0.0.2']));
    expect(listener.requests.map(({ path }) => path)).not.toContain('/secret');
  });

  it.each([301, 302, 303, 307, 308])('of status %d are followed at most three times', async (status) => {
    redirectAfter(3, '/end', status);
    expect(await (await createGuardedFetch()(at('127.0.0.2', '/1'), {})).text()).toBe('end');
    redirectAfter(4, '/end', status);
    await expect(createGuardedFetch()(at('127.0.0.2', '/1'), {})).rejects.toThrow('redirects more than 3 times');
  });

  it.each(['file:///etc/passwd', 'javascript:1', '//user:pass@127.0.0.2/', 'http://'])(
    'to %s are refused',
    async (target) => {
      redirectAfter(1, target);
      await expect(createGuardedFetch()(at('127.0.0.2', '/1'), {})).rejects.toThrow(/not called|not sent/);
    },
  );

  it('carry no credential to another origin, and keep all headers at the same one', async () => {
    const headers = { authorization: 'Bearer t', cookie: 'a=b', 'x-api-key': 'k', accept: 'application/json' };
    redirectAfter(1, '/end');
    await createGuardedFetch()(at('127.0.0.2', '/1'), { headers });
    expect(listener.requests.at(-1)?.headers).toMatchObject(headers);
    redirectAfter(1, at('127.0.0.3', '/end'));
    await createGuardedFetch()(at('127.0.0.2', '/1'), { headers });
    const last = listener.requests.at(-1)?.headers;
    expect(last).toMatchObject({ accept: 'application/json', host: `127.0.0.3:${listener.port}` });
    expect(JSON.stringify(last)).not.toMatch(/Bearer|a=b|api-key/);
  });

  it('carry no credential back to the first origin', async () => {
    listener.answer = ({ url }, response) => {
      const next = { '/1': at('127.0.0.3', '/2'), '/2': at('127.0.0.2', '/3') }[url ?? ''];
      if (next === undefined) response.end('end');
      else response.writeHead(302, { location: next }).end();
    };
    await createGuardedFetch()(at('127.0.0.2', '/1'), { headers: { authorization: 'Bearer t' } });
    expect(listener.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer t', undefined, undefined]);
  });

  it('from https to http are refused', async () => {
    const authority = makeAuthority('guard');
    await using secure = await WatchedListener.open(authority.server());
    secure.answer = (_, response) => response.writeHead(302, { location: at('127.0.0.1') }).end();
    const call = createGuardedFetch({ allow: ['127.0.0.1'], ca: authority.ca })(
      `https://127.0.0.1:${secure.port}/`,
      {},
    );
    await expect(call).rejects.toThrow('redirects to plain http');
    expect(listener.connections).toEqual([]);
  });

  it('are returned or refused if the caller says so', async () => {
    redirectAfter(1, '/end');
    expect((await createGuardedFetch()(at('127.0.0.2', '/1'), { redirect: 'manual' })).status).toBe(302);
    await expect(createGuardedFetch()(at('127.0.0.2', '/1'), { redirect: 'error' })).rejects.toThrow('it redirects');
  });
});

it.each(['POST', 'PUT', 'DELETE', 'post'])('a redirect of %s is not followed', async (method) => {
  redirectAfter(1, '/end', 307);
  const answer = await createGuardedFetch()(at('127.0.0.2', '/1'), { method, body: 'event' });
  expect(answer.status).toBe(307);
  expect(listener.requests).toHaveLength(1);
});

it('a request has its method, headers and body, and no header of the connection', async () => {
  const headers = { 'content-type': 'text/plain', host: 'evil.example', 'transfer-encoding': 'chunked', te: 'x' };
  const answer = await createGuardedFetch()(at('127.0.0.2', '/hook?a=b'), {
    method: 'POST',
    headers,
    body: 'événement',
  });
  expect(await answer.text()).toBe('ok');
  expect(listener.requests).toMatchObject([
    { method: 'POST', path: '/hook?a=b', body: 'événement', headers: { 'content-type': 'text/plain' } },
  ]);
  const [{ headers: sent } = { headers: {} }] = listener.requests;
  expect(sent).toMatchObject({ host: `127.0.0.2:${listener.port}`, 'content-length': '11' });
  expect(sent).not.toHaveProperty('transfer-encoding');
  expect(sent).not.toHaveProperty('te');
});

it('a connection is used again once its answer is read', async () => {
  const send = createGuardedFetch();
  for (let count = 0; count < 3; count++) await (await send(at('127.0.0.2'), { method: 'POST', body: 'x' })).text();
  expect(listener.connections).toHaveLength(1);
});

describe('limits of an answer', () => {
  it('end one with too many bytes, whatever it declares', async () => {
    for (const declared of [true, false]) {
      listener.answer = (_, response) => {
        if (declared) response.setHeader('content-length', '1000');
        response.end('x'.repeat(1000));
      };
      const answer = await createGuardedFetch({ bytes: 999 })(at('127.0.0.2'), {});
      await expect(answer.text()).rejects.toThrow('too long');
      expect(await (await createGuardedFetch({ bytes: 1000 })(at('127.0.0.2'), {})).text()).toHaveLength(1000);
    }
  });

  it.each(['head', 'body'])('end one whose %s does not come in time', async (part) => {
    const clock = new ManualClock();
    const arrived = new Promise<void>((resolve) => {
      listener.answer = (_, response) => {
        if (part === 'body') response.write('begin');
        resolve();
      };
    });
    const call = createGuardedFetch({ clock, ms: 5_000 })(at('127.0.0.2'), {});
    const outcome = part === 'head' ? call : call.then((answer) => answer.text());
    const refusal = expect(outcome).rejects.toThrow('No answer in time');
    await arrived;
    if (part === 'body') await call;
    clock.advance(5_001);
    await refusal;
  });

  it('follow the signal of the caller', async () => {
    const end = new AbortController();
    listener.answer = () => end.abort(new Error('enough'));
    await expect(createGuardedFetch()(at('127.0.0.2'), { signal: end.signal })).rejects.toThrow('enough');
    await expect(createGuardedFetch()(at('127.0.0.2'), { signal: end.signal })).rejects.toThrow('enough');
  });
});

describe('a host that cannot check addresses', () => {
  const sent: string[] = [];
  const elsewhere = (allow: readonly string[]) =>
    guardedFetch({
      clock: systemClock,
      allow,
      uncheckedFetch: async (url) => {
        sent.push(url);
        return new Response('ok');
      },
    });

  it('calls allowed names and public addresses only', async () => {
    await elsewhere(['hooks.example.com'])('https://hooks.example.com/a', {});
    await elsewhere([])('https://93.184.216.34/b', {});
    expect(sent).toEqual(['https://hooks.example.com/a', 'https://93.184.216.34/b']);
    for (const url of ['https://other.example.com/', 'http://10.0.0.1/', 'http://localhost/'])
      await expect(elsewhere(['hooks.example.com'])(url, {})).rejects.toThrow('is not called');
    await expect(elsewhere(['10.0.0.0/8'])('https://a.example/', {})).rejects.toThrow('cannot check');
    expect(sent).toHaveLength(2);
  });
});
