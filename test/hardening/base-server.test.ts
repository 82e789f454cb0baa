import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENDPOINT_PATHS } from '../../packages/parley/src/app/base-server/base-server-options.js';
import { assertNoInternals } from '../support/no-internals.js';
import { AttackedServer, type Holdings } from './attacked-server.js';
import { requestBytes } from './calls.js';
import { type HttpAnswer, readAnswers } from './http-answer.js';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const CALLS = ['/communicate', '/delegate'] as const;
const CHANGES = ['/cache/invalidate', '/cache/warmup'] as const;
const READS = ENDPOINT_PATHS.filter((path) => ![...CALLS, ...CHANGES].some((other) => other === path));
const MIB = 1024 * 1024;

let server: AttackedServer;
let before: Holdings;
beforeAll(async () => {
  server = await AttackedServer.start({
    storage: 'memory',
    options: { baseServer: { cors: '*', cacheChanges: true } },
  });
  before = await server.idleHoldings();
});
afterAll(async () => {
  await server.mustBeAsBefore(before, { heapMiB: 16, rssMiB: 512 });
  await server[Symbol.asyncDispose]();
});

interface Said {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** Checks a refusal: JSON with the headers of a base server, a fitting code, and no internals. */
function readRefusal({ status, text, headers }: HttpAnswer): Said {
  expect(headers.get('content-type'), text).toBe('application/json');
  expect(headers.get('x-powered-by')).toBe('BaseA2AServer/2.0');
  const { jsonrpc, error } = JSON.parse(text) as {
    jsonrpc?: string;
    error: { code: number; message: string; data?: { timestamp: string } };
  };
  assertNoInternals(text);
  if (jsonrpc === undefined) expect(error.code).toBe(status);
  else expect(error.data?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
  return { status, code: error.code, message: error.message };
}

const post = (path: string, body: string | Uint8Array, headers: Readonly<Record<string, string | undefined>> = {}) =>
  server.answer(requestBytes('POST', path, body, headers));
const call = (path: string, method: string, params: unknown) =>
  post(path, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));

const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
const METHOD = { '/communicate': 'message/send', '/delegate': 'tasks/get' } as const;
const WHOLE = {
  '/communicate': JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }),
  '/delegate': JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } }),
} as const;

describe.each(CALLS)('%s', (path) => {
  it('refuses JSON that breaks off anywhere', async () => {
    for (let length = 0; length < WHOLE[path].length; length += 5) {
      expect(readRefusal(await post(path, WHOLE[path].slice(0, length)))).toMatchObject({ status: 200, code: -32700 });
    }
  });

  it('refuses a call without id that is right otherwise', async () => {
    const { id: _, ...call } = JSON.parse(WHOLE[path]) as Record<string, unknown>;
    expect(readRefusal(await post(path, JSON.stringify(call)))).toMatchObject({ status: 200, code: -32600 });
  });

  it.each<readonly [string, string | Uint8Array, number]>([
    ['what is not UTF-8', Buffer.from('{"jsonrpc":"2.0\xff"}', 'latin1'), -32700],
    ['a list of calls', '[]', -32600],
    ['no object', '5', -32600],
    ['no version', '{"id":1,"method":"message/send"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":{}}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"x"}', -32600],
    ['a method of nobody', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601],
    ['a method of 1.0', '{"jsonrpc":"2.0","id":1,"method":"SendMessage"}', -32601],
    ['too deep', `{"jsonrpc":"2.0","id":1,"method":"x","params":${'['.repeat(200)}${']'.repeat(200)}}`, -32600],
  ])('refuses %s', async (_, body, code) => {
    expect(readRefusal(await post(path, body))).toMatchObject({ status: 200, code });
  });

  it.each<readonly [string, unknown]>([
    ['none', undefined],
    ['a list', []],
    ['a text', 'x'],
    ['members of the wrong kind', { message: 5, id: {} }],
    ['a message without parts', { message: { ...message, parts: [] } }],
    ['a part of no kind', { message: { ...message, parts: [{ kind: 'nothing' }] } }],
    ['a role of nobody', { message: { ...message, role: 'system' } }],
    ['a configuration of the wrong kind', { message, id: 7, configuration: { historyLength: -1 } }],
    ['ids that are too long', { message: { ...message, taskId: 'x'.repeat(2_000) }, id: 'x'.repeat(2_000) }],
    ['names of the language', JSON.parse('{"__proto__":{"id":"x"},"constructor":{},"id":[]}') as unknown],
  ])('refuses params: %s', async (_, params) => {
    const { status, code } = readRefusal(await call(path, METHOD[path], params));
    expect(status).toBe(200);
    expect([-32600, -32602]).toContain(code);
  });

  it('refuses other media types, compressed bodies and too much', async () => {
    expect(readRefusal(await post(path, WHOLE[path], { 'content-type': 'text/plain' })).code).toBe(-32005);
    expect(readRefusal(await post(path, WHOLE[path], { 'content-type': undefined })).code).toBe(-32005);
    expect(readRefusal(await post(path, WHOLE[path], { 'content-encoding': 'gzip' })).code).toBe(-32005);
    const tooMuch = await post(path, '{', { 'content-length': String(11 * MIB) });
    expect(readRefusal(tooMuch)).toMatchObject({ status: 413, code: -32600 });
  });

  it('loses nothing over a peer that goes away in the middle of its body', async () => {
    for (let turn = 0; turn < 20; turn++) {
      using connection = await server.open(requestBytes('POST', path, '{"json', { 'content-length': '1000' }));
      connection.socket.resetAndDestroy();
    }
    expect((await post(path, WHOLE[path])).status).toBe(200);
  });
});

describe.each(READS)('%s', (path) => {
  it('takes any query, any header and a body for nothing', async () => {
    for (const query of ['', '?', '?A2A-Version=9.9', '?%zz=%', '?__proto__=x', `?${'a=b&'.repeat(1_000)}`]) {
      const answer = await server.answer(requestBytes('GET', path + query, undefined), 'GET');
      expect(answer.status, query.slice(0, 20)).toBe(200);
      assertNoInternals(answer.text);
    }
    const headers = { accept: '*/*;q=x', 'a2a-version': '7', 'x-a2a-protocol': '99', 'if-none-match': '*' };
    expect((await server.answer(requestBytes('GET', path, undefined, headers), 'GET')).status).toBe(200);
    expect((await server.answer(requestBytes('GET', path, 'body'), 'GET')).status).toBe(200);
    expect((await server.answer(requestBytes('HEAD', path, undefined), 'HEAD')).body.length).toBe(0);
  });
});

describe('every endpoint', () => {
  it.each(ENDPOINT_PATHS)('%s tells what it takes', async (path) => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND', READS.includes(path) ? 'POST' : 'GET']) {
      const answer = await server.answer(requestBytes(method, path, undefined), method);
      expect(readRefusal(answer).status).toBe(405);
      expect(answer.headers.get('allow')).toMatch(/OPTIONS/);
    }
  });

  it.each(ENDPOINT_PATHS)('%s is found at its path only', async (path) => {
    for (const other of [`${path}/`, `/${path}`, `${path}%00`, path.toUpperCase(), `/x/..${path}`, `${path};a`]) {
      const { status, text } = await server.answer(requestBytes('GET', other, undefined), 'GET');
      expect(status, other).toBe(404);
      expect(JSON.parse(text)).toMatchObject({ error: { code: 404 } });
    }
  });

  it('answers what is sent in one go, in its order', async () => {
    const requests = READS.map((path) => requestBytes('GET', path, undefined));
    const last = requestBytes('GET', '/info', undefined, { connection: 'close' });
    using connection = await server.open(Buffer.concat([...requests, last]));
    await connection.untilEnd();
    const answers = readAnswers(connection.bytes, 'GET');
    expect(answers.map(({ status }) => status)).toEqual(Array(READS.length + 1).fill(200));
  });
});

describe('the cache', () => {
  const invalidate = (body: string | Uint8Array, headers = {}) => post('/cache/invalidate', body, headers);

  it.each<readonly [string, string | Uint8Array, number]>([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['what is not UTF-8', Buffer.from('{"pattern":"\xff"}', 'latin1'), 400],
    ['no object', '[]', 400],
    ['no pattern', '{}', 400],
    ['a pattern that is no text', '{"pattern":{}}', 400],
    ['too much', JSON.stringify({ pattern: 'x'.repeat(20_000) }), 413],
  ])('refuses %s', async (_, body, status) => {
    expect(readRefusal(await invalidate(body)).status).toBe(status);
  });

  it('takes any pattern, also one made to take long', async () => {
    for (const pattern of ['*', '[', '[^', '\\', '[z-a]', '\u0000', 'a*'.repeat(500), `${'*?'.repeat(400)}x`, '😀']) {
      const answer = await invalidate(JSON.stringify({ pattern }));
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({ success: true, pattern });
    }
  });

  it('is not for pages of a browser, nor for those behind a proxy', async () => {
    for (const path of CHANGES) {
      for (const name of ['origin', 'x-forwarded-for', 'forwarded', 'via']) {
        expect(readRefusal(await post(path, '{"pattern":"*"}', { [name]: 'x' })).status).toBe(403);
      }
    }
  });
});
