import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttackedServer, type Holdings } from './attacked-server.js';
import { BASE, httpJsonBytes, requestBytes } from './calls.js';
import { readError } from './error-answer.js';
import { readAnswer, readAnswers } from './http-answer.js';

let server: AttackedServer;
let before: Holdings;
beforeAll(async () => {
  server = await AttackedServer.start();
  before = await server.idleHoldings();
});
afterAll(async () => {
  await server.mustBeAsBefore(before);
  await server[Symbol.asyncDispose]();
});

const LIST = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';
const SIZE = LIST.length.toString(16);
const LINE = `POST ${BASE} HTTP/1.1\r\n`;
const FIELDS = 'host: localhost\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n';
const LENGTH = `content-length: ${LIST.length}\r\n`;
const CHUNKED = 'transfer-encoding: chunked\r\n';
const GET = `GET ${BASE}/tasks HTTP/1.1\r\n`;
const long = 'x'.repeat(20_000);

/** The answer to bytes, and that it is the only one on the connection however that goes on. */
async function answerTo(bytes: string) {
  const { answer, text } = await onlyAnswer(bytes);
  expect(text.length, `more than one answer: ${text}`).toBe(0);
  return answer;
}

async function onlyAnswer(bytes: string) {
  using connection = await server.open(Buffer.from(bytes, 'latin1'));
  const { answer, end } = await connection.take((received) =>
    readAnswer(received, 0, bytes.startsWith('HEAD') ? 'HEAD' : 'POST'),
  );
  if (answer.headers.get('connection') === 'close') await connection.untilEnd();
  return { answer, text: connection.bytes.subarray(end).toString() };
}

describe('a request that HTTP does not allow is told so in JSON:', () => {
  it.each<readonly [string, number, string]>([
    ['no Host', 400, `${GET}a2a-version: 1.0\r\n\r\n`],
    ['two Host lines', 400, `${GET}host: a\r\nhost: b\r\n\r\n`],
    ['a folded line', 400, `${GET}host: localhost\r\nx-a: b\r\n folded\r\n\r\n`],
    ['lines that end in LF', 400, `${LINE}${FIELDS}${LENGTH}\r\n${LIST}`.replaceAll('\r\n', '\n')],
    ['a lone CR', 400, `${GET}host: localhost\r\nx-a: b\rc\r\n\r\n`],
    ['a NUL in a header', 400, `${GET}host: localhost\r\nx-a: b\0c\r\n\r\n`],
    ['a NUL in the target', 400, `${GET.replace('tasks', 'ta\0ks')}host: localhost\r\n\r\n`],
    ['a space in the target', 400, `${GET.replace('tasks', 'ta sks')}host: localhost\r\n\r\n`],
    ['bytes beyond ASCII in the target', 400, `${GET.replace('tasks', 'tä')}host: localhost\r\n\r\n`],
    ['a space before the colon', 400, `${GET}host : x\r\n\r\n`],
    ['a header without a colon', 400, `${GET}host: localhost\r\nxyz\r\n\r\n`],
    ['a header without a name', 400, `${GET}host: localhost\r\n: y\r\n\r\n`],
    ['an unknown method', 400, `${GET.replace('GET', 'NOPE')}host: localhost\r\n\r\n`],
    ['a target in authority form', 400, `${GET.replace(`${BASE}/tasks`, 'x:80')}host: localhost\r\n\r\n`],
    ['a relative target', 400, `${GET.replace(`${BASE}/tasks`, 'tasks')}host: localhost\r\n\r\n`],
    ['HTTP/1.2', 400, `${GET.replace('1.1', '1.2')}host: localhost\r\n\r\n`],
    ['HTTP/2.0', 505, `${GET.replace('1.1', '2.0')}host: localhost\r\n\r\n`],
    ['the preface of HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc'],
    ['an answer', 400, 'HTTP/1.1 200 OK\r\n\r\n'],
    ['CONNECT', 501, 'CONNECT x:443 HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['a large header', 431, `${GET}host: localhost\r\nx-a: ${long}\r\n\r\n`],
    ['many headers', 431, `${GET}host: localhost\r\n${'a:\r\n'.repeat(9_000)}\r\n`],
    ['more headers than Node.js reads', 431, `${GET}host: localhost\r\n${'a:\r\n'.repeat(1_100)}\r\n`],
    ['a long target', 431, `${GET.replace('tasks', `tasks/${long}`)}host: localhost\r\n\r\n`],
    ['a length and chunks', 400, `${LINE}${FIELDS}${LENGTH}${CHUNKED}\r\n0\r\n\r\n`],
    ['two lengths', 400, `${LINE}${FIELDS}${LENGTH}${LENGTH}\r\n${LIST}`],
    ['a negative length', 400, `${LINE}${FIELDS}content-length: -1\r\n\r\n${LIST}`],
    ['a length with a sign', 400, `${LINE}${FIELDS}content-length: +9\r\n\r\n${LIST}`],
    ['a length in hex', 400, `${LINE}${FIELDS}content-length: 0x9\r\n\r\n${LIST}`],
    ['a list of lengths', 400, `${LINE}${FIELDS}content-length: 9, 9\r\n\r\n${LIST}`],
    ['a length beyond 64 bits', 400, `${LINE}${FIELDS}content-length: 99999999999999999999\r\n\r\n${LIST}`],
    ['chunks twice', 400, `${LINE}${FIELDS}${CHUNKED}${CHUNKED}\r\n0\r\n\r\n`],
    ['chunks that are not the last coding', 400, `${LINE}${FIELDS}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    [
      'a transfer coding of gzip',
      501,
      `${LINE}${FIELDS}transfer-encoding: gzip, chunked\r\n\r\n${SIZE}\r\n${LIST}\r\n0\r\n\r\n`,
    ],
    ['an unknown transfer coding', 501, `${LINE}${FIELDS}transfer-encoding: xchunked\r\n\r\n${LIST}`],
    ['a chunk size that is no number', 400, `${LINE}${FIELDS}${CHUNKED}\r\nzz\r\n${LIST}\r\n0\r\n\r\n`],
    ['a negative chunk size', 400, `${LINE}${FIELDS}${CHUNKED}\r\n-5\r\n${LIST}\r\n0\r\n\r\n`],
    ['a chunk size beyond 64 bits', 400, `${LINE}${FIELDS}${CHUNKED}\r\nfffffffffffffffff\r\n${LIST}`],
    ['a chunk that does not end where it says', 400, `${LINE}${FIELDS}${CHUNKED}\r\n5\r\n${LIST}\r\n0\r\n\r\n`],
    ['large chunk extensions', 413, `${LINE}${FIELDS}${CHUNKED}\r\n${SIZE};a=${long}\r\n${LIST}\r\n0\r\n\r\n`],
    ['large trailers', 431, `${LINE}${FIELDS}${CHUNKED}\r\n${SIZE}\r\n${LIST}\r\n0\r\nx-t: ${long}\r\n\r\n`],
  ])('%s: %i', async (_, status, bytes) => {
    const answer = await answerTo(bytes);
    expect(answer.status).toBe(status);
    readError(answer);
  });
});

describe('a request that is odd but allowed is served:', () => {
  const list = { status: 200, tasks: true };
  it.each<readonly [string, string]>([
    ['HTTP/1.0 without Host', `${GET.replace('1.1', '1.0')}a2a-version: 1.0\r\n\r\n`],
    ['an empty Host', `${GET}host:\r\na2a-version: 1.0\r\n\r\n`],
    [
      'the absolute form',
      `${GET.replace(BASE, `http://other.example${BASE}`)}host: localhost\r\na2a-version: 1.0\r\n\r\n`,
    ],
    [
      'an upgrade to WebSocket',
      `${GET}host: localhost\r\na2a-version: 1.0\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n`,
    ],
    [
      'an upgrade to HTTP/2',
      `${GET}host: localhost\r\na2a-version: 1.0\r\nconnection: upgrade\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n\r\n`,
    ],
    ['an upgrade of a POST', `${LINE}${FIELDS}${LENGTH}connection: upgrade\r\nupgrade: websocket\r\n\r\n${LIST}`],
    ['empty lines before it', `\r\n\r\n${GET}host: localhost\r\na2a-version: 1.0\r\n\r\n`],
    ['a GET with a body', `${GET}host: localhost\r\na2a-version: 1.0\r\ncontent-length: 5\r\n\r\nhello`],
    ['bytes beyond ASCII in a header', `${GET}host: localhost\r\na2a-version: 1.0\r\nx-a: ä\r\n\r\n`],
    ['many headers', `${GET}host: localhost\r\na2a-version: 1.0\r\n${'a:\r\n'.repeat(900)}\r\n`],
    ['chunks with extensions', `${LINE}${FIELDS}${CHUNKED}\r\n${SIZE};a=b;c="d"\r\n${LIST}\r\n0\r\n\r\n`],
    ['chunks of one byte', `${LINE}${FIELDS}${CHUNKED}\r\n${[...LIST].map((c) => `1\r\n${c}\r\n`).join('')}0\r\n\r\n`],
    ['chunks with trailers', `${LINE}${FIELDS}${CHUNKED}\r\n${SIZE}\r\n${LIST}\r\n0\r\nx-t: 1\r\n\r\n`],
    ['Chunked in other letters', `${LINE}${FIELDS}Transfer-Encoding: Chunked\r\n\r\n${SIZE}\r\n${LIST}\r\n0\r\n\r\n`],
    ['an unknown expectation', `${LINE}${FIELDS}${LENGTH}expect: bananas\r\n\r\n${LIST}`],
    ['100-continue with the body at once', `${LINE}${FIELDS}${LENGTH}expect: 100-continue\r\n\r\n${LIST}`],
  ])('%s', async (_, bytes) => {
    const answer = await answerTo(bytes);
    expect({ status: answer.status, tasks: answer.text.includes('"tasks":[') }).toEqual(list);
  });

  it.each(['TRACE', 'PUT', 'PATCH', 'DELETE', 'LOCK', 'QUERY'])('not %s, which no route has', async (method) => {
    const answer = await server.answer(requestBytes(method, `${BASE}/tasks`, undefined));
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET');
    readError(answer);
    expect((await server.answer(requestBytes(method, BASE, undefined))).status).toBe(405);
  });

  it('HEAD is refused without a body', async () => {
    const { answer, text } = await onlyAnswer(
      `HEAD ${BASE}/tasks HTTP/1.1\r\nhost: localhost\r\na2a-version: 1.0\r\n\r\n`,
    );
    expect([answer.status, text]).toEqual([405, '']);
  });
});

describe('headers that are there twice', () => {
  const post = (headers: string) => `${LINE}host: localhost\r\n${LENGTH}${headers}\r\n${LIST}`;
  it.each<readonly [string, string, number | undefined]>([
    [
      'content types that differ',
      'a2a-version: 1.0\r\ncontent-type: application/json\r\ncontent-type: text/plain\r\n',
      -32005,
    ],
    ['versions that differ', 'content-type: application/json\r\na2a-version: 1.0\r\na2a-version: 0.3\r\n', -32602],
    ['Accept', 'a2a-version: 1.0\r\ncontent-type: application/json\r\naccept: a/b\r\naccept: c/d\r\n', undefined],
    [
      'A2A-Extensions',
      'a2a-version: 1.0\r\ncontent-type: application/json\r\na2a-extensions: urn:a\r\na2a-extensions: urn:b\r\n',
      undefined,
    ],
  ])('%s', async (_, headers, code) => {
    const answer = await answerTo(post(headers));
    if (code === undefined) expect(answer.text).toContain('"tasks":[');
    else expect(readError(answer).code).toBe(code);
  });
});

describe('bytes after a request', () => {
  const good = `${LINE}${FIELDS}${LENGTH}\r\n${LIST}`;

  async function answersTo(bytes: string) {
    using connection = await server.open(Buffer.from(bytes, 'latin1'));
    await connection.untilEnd();
    const answers = readAnswers(connection.bytes);
    expect(answers.at(-1)?.headers.get('connection')).toBe('close');
    return answers;
  }

  it('do not take its answer away, get one of their own, and end the connection', async () => {
    const [first, second, ...others] = await answersTo(`${good}garbage\r\n\r\n`);
    expect(first?.text).toContain('"tasks":[');
    expect(second && readError(second).status).toBe(400);
    expect(others).toEqual([]);
  });

  it('that a length is too short for leave a body that is no JSON', async () => {
    const [first, second, ...others] = await answersTo(`${LINE}${FIELDS}content-length: 20\r\n\r\n${LIST}`);
    expect(first && readError(first).reason).toBe('PARSE_ERROR');
    expect(second && readError(second).status).toBe(400);
    expect(others).toEqual([]);
  });

  it('of several good requests: these are answered all the same, in their order', async () => {
    const answers = await answersTo(`${good}${good}${GET}host: localhost\r\na2a-version: 1.0\r\n\r\n\x00\x01\x02`);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400]);
  });

  it('go on and on without cutting off a large answer that came before', async () => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'large 4000000' }] };
    using connection = await server.open(httpJsonBytes('POST', '/message:send', { message }));
    for (let chunk = 0; chunk < 20; chunk++) connection.socket.write('garbage\r\n\r\n'.repeat(100));
    await connection.untilEnd();
    const answers = readAnswers(connection.bytes);
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers[0]?.body.length).toBeGreaterThan(4_000_000);
  });
});
