import { describe, expect, it } from 'vitest';
import { MemoryRequest } from '../../../test/exchange-request.js';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import { isOption } from '../../options/check-options.js';
import { withCors } from './cors.js';
import { type CorsOptions, type CorsOrigins, corsSchema } from './cors-options.js';

const PAGE = 'https://page.example';
const INNER: ExchangeResponse = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };

function world(options: CorsOrigins | CorsOptions, answer: ExchangeResponse = INNER) {
  let asked = 0;
  const exchange = withCors(async () => {
    asked++;
    return answer;
  }, options);
  const send = (method: string, headers: Record<string, string> = {}) =>
    exchange(new MemoryRequest({ method, headers }));
  const preflight = (origin = PAGE) =>
    send('OPTIONS', {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'a2a-version',
    });
  return { send, preflight, asked: () => asked };
}

const lower = (list: string | undefined) => (list ?? '').toLowerCase().split(', ');

describe('every origin', () => {
  it('is answered alike, whether or not it asks: caches may keep one answer for all', async () => {
    const { send } = world('*');
    const [page, tool] = [await send('POST', { origin: PAGE }), await send('POST')];
    expect(page).toEqual(tool);
    expect(page.headers).toMatchObject({ 'content-type': 'application/json', 'access-control-allow-origin': '*' });
    expect(page.headers).not.toHaveProperty('vary');
    expect(page.headers).not.toHaveProperty('access-control-allow-credentials');
    expect(page.body).toBe('{}');
  });

  it('may read the headers of the protocol', async () => {
    const { headers } = await world('*').send('POST', { origin: PAGE });
    expect(lower(headers['access-control-expose-headers'])).toEqual(
      expect.arrayContaining([
        'a2a-version',
        'a2a-extensions',
        'x-a2a-extensions',
        'www-authenticate',
        'etag',
        'location',
        'content-range',
        'repr-digest',
        'upload-offset',
        'retry-after',
        'x-request-id',
      ]),
    );
  });
});

describe('what a browser asks before', () => {
  it('is answered without the agent', async () => {
    const { preflight, asked } = world([PAGE]);
    const { status, headers, body } = await preflight();
    expect([status, body, asked()]).toEqual([204, undefined, 0]);
    expect(headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
    expect(lower(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining([
        'a2a-version',
        'a2a-extensions',
        'authorization',
        'content-type',
        'last-event-id',
        'content-digest',
        'range',
        'tus-resumable',
        'upload-offset',
        'x-request-id',
        'traceparent',
      ]),
    );
  });

  it('has headers and a time of the application too', async () => {
    const { preflight, send } = world({
      origins: [PAGE],
      allowedHeaders: ['X-Own'],
      exposedHeaders: ['X-Told'],
      maxAgeSeconds: 5,
      credentials: true,
    });
    const { headers } = await preflight();
    expect(lower(headers['access-control-allow-headers'])).toContain('x-own');
    expect(headers).toMatchObject({ 'access-control-max-age': '5', 'access-control-allow-credentials': 'true' });
    const answer = await send('POST', { origin: PAGE });
    expect(lower(answer.headers['access-control-expose-headers'])).toContain('x-told');
    expect(answer.headers['access-control-allow-credentials']).toBe('true');
  });

  it('says nothing to an origin that may not', async () => {
    const { status, headers } = await world([PAGE]).preflight('https://evil.example');
    expect([status, headers]).toEqual([204, { vary: 'Origin' }]);
  });

  it('is told from an OPTIONS of anybody else', async () => {
    const { send, asked } = world('*');
    await send('OPTIONS', { origin: PAGE });
    await send('OPTIONS', { 'access-control-request-method': 'POST' });
    expect(asked()).toBe(2);
  });
});

describe('origins of a list or a function', () => {
  it.each<[string, CorsOrigins]>([
    ['list', [PAGE, 'https://other.example']],
    ['function', (origin) => origin.endsWith('.example') && !origin.includes('evil')],
    ['asynchronous function', async (origin) => origin === PAGE],
  ])('a %s lets in whom it names, and caches know', async (_, origins) => {
    const { send } = world(origins);
    const mine = await send('POST', { origin: PAGE });
    expect(mine.headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: `${PAGE}.evil.test` },
      { origin: 'null' },
      {},
    ]) {
      const answer = await send('POST', headers as Record<string, string>);
      expect(answer.headers).toEqual({ 'content-type': 'application/json', vary: 'Origin' });
      expect(answer.body).toBe('{}');
    }
  });

  it('keep what the answer depends on already', async () => {
    const vary = async (own: string) => {
      const { send } = world([PAGE], { ...INNER, headers: { vary: own } });
      return (await send('GET')).headers.vary;
    };
    expect(await vary('A2A-Version')).toBe('A2A-Version, Origin');
    expect(await vary('accept, origin')).toBe('accept, origin');
    expect(await vary('*')).toBe('*');
  });
});

describe('options', () => {
  it.each([
    ['*'],
    [['https://page.example', 'http://localhost:5173', 'null']],
    [() => true],
    [{ origins: '*' }],
    [{ origins: ['https://page.example'], credentials: true, maxAgeSeconds: 0 }],
  ])('%j are right', (options) => {
    expect(isOption(corsSchema, options)).toBe(true);
  });

  it.each([
    [['https://page.example/']],
    [['page.example']],
    [['https://*.example']],
    ['https://page.example'],
    [true],
    [{ origins: '*', credentials: true }],
    [{ origins: ['https://page.example'], allowedHeaders: ['two words'] }],
    [{ origins: ['https://page.example'], other: 1 }],
  ])('%j are wrong', (options) => {
    expect(isOption(corsSchema, options)).toBe(false);
  });
});
