import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { median } from '../support/median.js';
import { AttackedServer, type Holdings } from './attacked-server.js';
import { BASE, BINDINGS, type Binding, httpJsonBytes, requestBytes, rpcBytes } from './calls.js';
import { readError } from './error-answer.js';
import { readAnswer } from './http-answer.js';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let server: AttackedServer;
let before: Holdings;
beforeAll(async () => {
  server = await AttackedServer.start();
  before = await server.idleHoldings();
});
afterAll(async () => {
  await server.mustBeAsBefore(before, { heapMiB: 16, rssMiB: 512 });
  await server[Symbol.asyncDispose]();
});

const MIB = 1024 * 1024;

/** The time of a call in ms. */
async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

const message = (more: object = {}) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }], ...more });
const TARGETS = { 'JSON-RPC': BASE, 'HTTP+JSON': `${BASE}/message:send` } as const;

/** The answer to a body as it is. */
function send(binding: Binding, body: string | Uint8Array, headers: Readonly<Record<string, string | undefined>> = {}) {
  return server.answer(requestBytes('POST', TARGETS[binding], body, headers));
}

/** A message as the body of a binding, with JSON put in at one place as it is written. */
function body(binding: Binding, at: 'params' | 'message' | 'parts' | 'data', json: string): string {
  const mark = '"<here>"';
  const value = {
    params: JSON.parse(mark),
    message: { message: JSON.parse(mark) },
    parts: { message: message({ parts: JSON.parse(mark) }) },
    data: { message: message({ parts: [{ data: JSON.parse(mark) }] }) },
  }[at];
  const whole = binding === 'HTTP+JSON' ? value : { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: value };
  return JSON.stringify(whole).replace(mark, () => json);
}

/** A list of equal items. */
function many(item: string, count: number): string {
  return `[${`${item},`.repeat(count - 1)}${item}]`;
}

describe.each(BINDINGS)('over %s', (binding) => {
  const whole = body(binding, 'message', JSON.stringify(message()));

  it('JSON that breaks off anywhere is a parse error', async () => {
    for (let length = 0; length < whole.length; length += 3) {
      expect(readError(await send(binding, whole.slice(0, length))).reason).toBe('PARSE_ERROR');
    }
  });

  it.each<readonly [string, Uint8Array]>([
    ['a byte of no character', Buffer.from('ff', 'hex')],
    ['half a character', Buffer.from('c328', 'hex')],
    ['a lone surrogate', Buffer.from('eda080', 'hex')],
    ['an overlong form', Buffer.from('c0af', 'hex')],
    ['beyond the last character', Buffer.from('f4908080', 'hex')],
  ])('%s is no UTF-8', async (_, bytes) => {
    const [head = '', tail = ''] = whole.split('hello');
    const answer = await send(binding, Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]));
    expect(readError(answer)).toMatchObject({
      reason: 'PARSE_ERROR',
      message: 'Invalid JSON payload: The request body is not UTF-8',
    });
  });

  it('UTF-16 is refused, a byte order mark of UTF-8 is not', async () => {
    expect(readError(await send(binding, Buffer.from(`\ufeff${whole}`, 'utf16le'))).reason).toBe('PARSE_ERROR');
    expect((await send(binding, `\ufeff${whole}`)).text).toContain('COMPLETED');
  });

  it.each(['', ' ', 'null', 'true', '5', '"text"', 'undefined', 'NaN', "{'a':1}", '{"a":1,}', '// x', '{}{}', '\0'])(
    'the body %j is refused',
    async (text) => {
      const { reason } = readError(await send(binding, text));
      expect(['PARSE_ERROR', 'INVALID_REQUEST', 'INVALID_PARAMS']).toContain(reason);
    },
  );

  it('11 MB are refused unread, announced or not, and so is a body without end', async () => {
    const text = body(binding, 'data', `"${'x'.repeat(11 * MIB)}"`);
    const answer = await send(binding, text);
    expect([answer.status, readError(answer).reason]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const chunk = Buffer.from(`${MIB.toString(16)}\r\n${'x'.repeat(MIB)}\r\n`);
    const head = requestBytes('POST', TARGETS[binding], '', {
      'content-length': undefined,
      'transfer-encoding': 'chunked',
    });
    using connection = await server.open(head);
    while (!connection.ended) {
      connection.socket.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
      if (connection.socket.writableLength > 4 * MIB)
        await Promise.race([new Promise((resolve) => connection.socket.once('drain', resolve)), connection.untilEnd()]);
    }
    const endless = readAnswer(connection.bytes, 0, 'POST')?.answer;
    expect(endless?.status).toBe(413);
  });

  it('a little less than 10 MB is taken', async () => {
    const answer = await send(binding, body(binding, 'data', `"${'x'.repeat(9.9 * MIB)}"`));
    expect(answer.text).toContain('COMPLETED');
  });

  it.each<readonly [string, string]>([
    ['arrays', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['arrays without end', '['.repeat(1_000_000)],
  ])('%s nested far too deeply are refused, wherever they are', async (_, json) => {
    for (const at of ['params', 'message', 'parts', 'data'] as const) {
      expect(readError(await send(binding, body(binding, at, json))).reason).toBe('INVALID_REQUEST');
    }
    expect((await send(binding, body(binding, 'data', JSON.stringify(json)))).text).toContain('COMPLETED');
  });

  it('a million of anything is refused before it is parsed, and the error names the limit', async () => {
    for (const at of ['params', 'message', 'parts', 'data'] as const) {
      for (const item of ['0', '{}', '[]', '""', '{"text":""}']) {
        const answer = await send(binding, body(binding, at, many(item, 800_000)));
        expect(readError(answer)).toMatchObject({
          reason: 'INVALID_REQUEST',
          message: expect.stringContaining('jsonItems'),
        });
        expect(answer.text.length).toBeLessThan(1_000);
      }
    }
  });

  it('as many as the limit allows are refused with few words, and quickly enough', async () => {
    for (const [at, json, field] of [
      ['parts', many('0', 99_000), 'message.parts[0]'],
      ['parts', many('{}', 99_000), 'message.parts[0]'],
      ['message', many('1', 99_000), 'message'],
      [
        'message',
        `{"messageId":"m","role":"ROLE_USER","parts":[{"text":""}],"extensions":${many('5', 99_000)}}`,
        'message.extensions[0]',
      ],
      ['parts', many('{"text":""}', 49_000), 'message.parts'],
    ] as const) {
      const answer = await send(binding, body(binding, at, json));
      const { reason, fields } = readError(answer);
      expect(reason).toBe('INVALID_PARAMS');
      expect([...fields.keys()]).toContain(field);
      expect(answer.text.length).toBeLessThan(10_000);
    }
  });

  it('a compressed body is refused for what it is', async () => {
    for (const coding of ['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip', 'x']) {
      const answer = await send(binding, gzipSync(whole), { 'content-encoding': coding });
      expect(readError(answer)).toMatchObject({
        status: 415,
        reason: 'CONTENT_TYPE_NOT_SUPPORTED',
        message: expect.stringContaining('compressed'),
      });
      expect(answer.headers.get('accept-encoding')).toBe('identity');
    }
    for (const coding of ['identity', 'Identity', 'identity, identity'])
      expect((await send(binding, whole, { 'content-encoding': coding })).text).toContain('COMPLETED');
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonx',
    'text/json',
    ';',
    'application/json, text/plain',
  ])('the content type %s is refused', async (type) => {
    expect(readError(await send(binding, whole, { 'content-type': type })).reason).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;x'])(
    'the content type %s is not',
    async (type) => {
      expect((await send(binding, whole, { 'content-type': type })).text).toContain('COMPLETED');
    },
  );
});

describe('JSON-RPC envelopes', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };
  const rpc = (value: unknown) => send('JSON-RPC', typeof value === 'string' ? value : JSON.stringify(value));

  it.each<readonly [string, unknown]>([
    ['an empty batch', []],
    ['a batch', [call, call]],
    ['a batch of a million', `[${'0,'.repeat(999_999)}0]`],
    ['no version', { ...call, jsonrpc: undefined }],
    ['another version', { ...call, jsonrpc: '1.0' }],
    ['a number as version', { ...call, jsonrpc: 2.0 }],
    ['no method', { ...call, method: undefined }],
    ['a method that is no text', { ...call, method: ['ListTasks'] }],
    ['a notification', { ...call, id: undefined }],
    ['an id that is an object', { ...call, id: {} }],
    ['an id that is true', { ...call, id: true }],
    ['params that are a text', { ...call, params: 'x' }],
    ['nothing', {}],
  ])('with %s are invalid requests', async (_, value) => {
    expect(readError(await rpc(value)).code).toBe(-32600);
  });

  it.each([
    '',
    'listtasks',
    'ListTasks ',
    'message/Send',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '\0',
    'x'.repeat(100_000),
  ])('with the method %j name nothing', async (method) => {
    const said = readError(await rpc({ ...call, method }));
    expect([said.code, said.id]).toEqual([-32601, 1]);
  });

  it('with parameters in a list are told so', async () => {
    expect(readError(await rpc({ ...call, params: [1] })).code).toBe(-32602);
  });

  it.each([
    '"text"',
    '""',
    '0',
    '-1',
    '1.5',
    'null',
    '9007199254740993',
    '-9007199254740993',
    '123456789012345678901234567890',
    '1e400',
    '0.12345678901234567890',
  ])('with the id %s get it back as it is', async (id) => {
    const answer = await rpc(
      `{"jsonrpc":"2.0","params":{"id":7,"x":"id"},"id":5,"\\u0069d":${id},"method":"GetExtendedAgentCard"}`,
    );
    expect(answer.text).toMatch(new RegExp(`^{"jsonrpc":"2.0","id":${id},`));
  });

  it('with a large id and many others inside do not keep the server busy', async () => {
    const text = `{"jsonrpc":"2.0","id":9007199254740993,"method":"None","params":{"x":[${'{"id":1},'.repeat(49_000)}1]}}`;
    const [usual, large]: [number[], number[]] = [[], []];
    // Medians, because a machine that stands still for a moment slows one call of several.
    for (let round = 0; round < 3; round++) {
      usual.push(await timeOf(() => rpc(text.replace('9007199254740993', '1'))));
      large.push(await timeOf(async () => expect((await rpc(text)).text).toContain('"id":9007199254740993')));
    }
    expect(median(large)).toBeLessThan(3 * median(usual) + 200);
  });
});

describe('queries', () => {
  it('of thousands of names are read in little time', async () => {
    const names = Array.from({ length: 4_000 }, (_, at) => at.toString(36)).join('&');
    const list = (query: string) => server.answer(httpJsonBytes('GET', `/tasks/none?${query}`));
    await list(names);
    const times: number[] = [];
    for (let call = 0; call < 20; call++)
      times.push(await timeOf(async () => expect((await list(names)).status).toBe(404)));
    expect(median(times)).toBeLessThan(100);
  });

  it.each([
    '%',
    '%zz',
    '%ff',
    '&&&',
    '=',
    '?',
    'pageSize',
    '__proto__=1&constructor=2&toString=3',
    'tenant=%00',
    'a'.repeat(10_000),
  ])('?%.20s harm nothing', async (query) => {
    const answer = await server.answer(httpJsonBytes('GET', `/tasks?contextId=none&${query}`));
    if (answer.status !== 200) expect(readError(answer).reason).toBe('INVALID_PARAMS');
  });
});

it('names of prototypes at the top of a body name nothing', async () => {
  const text = `{"__proto__":{"id":1,"method":"ListTasks"},"constructor":1,"jsonrpc":"2.0"}`;
  expect(readError(await send('JSON-RPC', text)).code).toBe(-32600);
  expect(
    (await server.answer(rpcBytes('ListTasks', JSON.parse('{"contextId":"none","__proto__":{"pageSize":"x"}}')))).text,
  ).toContain('"tasks"');
});
