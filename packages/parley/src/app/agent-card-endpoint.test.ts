import { expect, it } from 'vitest';
import { MemoryRequest } from '../../test/exchange-request.js';
import { agentCardEndpoint } from './agent-card-endpoint.js';

const json = '{"name":"Echo"}';
const modifiedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const endpoint = agentCardEndpoint({ json, modifiedAt, maxAgeSeconds: 60 });
const ask = (method = 'GET', headers: Record<string, string> = {}) => endpoint(new MemoryRequest({ method, headers }));

it('answers with the card and what a cache needs to know (Spec §8.6)', async () => {
  const { status, headers, body } = await ask();
  expect([status, body]).toEqual([200, json]);
  expect(headers).toEqual({
    'content-type': 'application/json',
    'cache-control': 'public, max-age=60',
    etag: expect.stringMatching(/^W\/"[0-9a-f]{32}"$/),
    'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
  });
});

it('the tag follows from the content alone (Spec §8.6)', async () => {
  const tagOf = async (json: string, modifiedAt: number) =>
    (await agentCardEndpoint({ json, modifiedAt, maxAgeSeconds: 1 })(new MemoryRequest({ method: 'GET' }))).headers
      .etag;
  expect(await tagOf(json, 0)).toBe((await ask()).headers.etag);
  expect(await tagOf('{"name":"Other"}', modifiedAt)).not.toBe((await ask()).headers.etag);
});

it('a client that has it gets 304 and no content (Spec §8.6)', async () => {
  const { etag = '', 'last-modified': modified = '' } = (await ask()).headers;
  const current = [
    { 'if-none-match': etag },
    { 'if-none-match': etag.slice(2) },
    { 'if-none-match': `"other" , ${etag}` },
    { 'if-none-match': '*' },
    { 'if-modified-since': modified },
    { 'if-modified-since': 'Sat, 03 Jan 2026 00:00:00 GMT' },
  ];
  for (const headers of current) {
    const answer = await ask('GET', headers);
    expect([headers, answer.status, answer.body]).toEqual([headers, 304, undefined]);
    expect(answer.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=60' });
    expect(answer.headers).not.toHaveProperty('content-type');
  }
});

it('a client that has another one gets it (Spec §8.6)', async () => {
  const { 'last-modified': modified = '' } = (await ask()).headers;
  const stale = [
    { 'if-none-match': '"other"' },
    { 'if-none-match': '"other"', 'if-modified-since': modified },
    { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
    { 'if-modified-since': 'yesterday' },
  ];
  for (const headers of stale) expect([headers, (await ask('GET', headers)).status]).toEqual([headers, 200]);
});

it('only reads are allowed', async () => {
  expect((await ask('HEAD')).status).toBe(200);
  expect(await ask('OPTIONS')).toEqual({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } });
  expect(await ask('POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
});
