import { describe, expect, it } from 'vitest';
import { type Client, connect } from '../../packages/parley/src/exports/client.js';
import { StubAgent, type StubAnswer, task } from './stub-agent.js';

const STREAM = { 'content-type': 'text/event-stream' };
const stream = (body: string, status = 200): StubAnswer => ({ status, headers: STREAM, body });
const rpc = (members: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...members });

async function streamFailure(binding: string, answer: StubAnswer, version = '1.0', options = {}) {
  return failure(binding, answer, { version, options }, async (client) => {
    for await (const event of client.sendStreamingMessage('hi')) void event;
  });
}

async function failure(
  binding: string,
  answer: StubAnswer,
  { version = '1.0', options = {} }: { version?: string; options?: object },
  call: (client: Client) => Promise<unknown>,
) {
  await using stub = await StubAgent.start(() => answer);
  const supportedInterfaces = [{ url: stub.url, protocolBinding: binding, protocolVersion: version }];
  const client = await connect(stub.card({ supportedInterfaces }), {
    retry: { attempts: 0 },
    resume: { attempts: 0 },
    ...options,
  });
  return await call(client).then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => error as Error & { readonly code: string },
  );
}

const BOTH = ['JSONRPC', 'HTTP+JSON'] as const;
type Row = readonly [what: string, answer: StubAnswer, code: string, message: string | RegExp];

describe.each(['1.0', '0.3'])('an error in the answer to a stream of %s', (version) => {
  const ODD = / with text\/event-stream that is not of the protocol: (.*)$/;
  const patternOf = (text: string) => new RegExp(`${ODD.source.replace('(.*)', text)}`);

  const eitherBinding: readonly Row[] = [
    ['without an envelope', stream('data: {"error":{"code":-32602,"message":"boom"}}\n\n'), 'INVALID_PARAMS', 'boom'],
    ['as number and message', stream('data: {"code":-32602,"message":"boom"}\n\n'), 'INVALID_PARAMS', 'boom'],
    ['of another number', stream('data: {"code":-32042,"message":"boom"}\n\n'), 'INTERNAL_ERROR', 'boom'],
    [
      'in an event of that name',
      stream('event: error\ndata: {"code":-32602,"message":"boom"}\n\n'),
      'INVALID_PARAMS',
      'boom',
    ],
    ['as a text', stream('data: {"error":"boom"}\n\n'), 'INTERNAL_ERROR', 'boom'],
    ['of FastAPI', stream('data: {"detail":"boom"}\n\n'), 'I', /boom/],
    [
      'of unknown JSON in an event of that name',
      stream('event: error\ndata: {"fault":"boom"}\n\n'),
      'INVALID_AGENT_RESPONSE',
      patternOf('{"fault":"boom"}'),
    ],
    [
      'as bare text in a frame',
      stream('data: Agent not found\n\n'),
      'INVALID_AGENT_RESPONSE',
      patternOf('Agent not found'),
    ],
    [
      'as bare text in an error event',
      stream('event: error\ndata: Internal error: boom\n\n'),
      'INVALID_AGENT_RESPONSE',
      patternOf('Internal error: boom'),
    ],
    [
      'as bare text in a last frame without its empty line',
      stream('event: error\ndata: Internal error: boom'),
      'INVALID_AGENT_RESPONSE',
      patternOf('Internal error: boom'),
    ],
    [
      'as bare text without a frame',
      stream('Internal error: boom'),
      'INVALID_AGENT_RESPONSE',
      patternOf('Internal error: boom'),
    ],
    [
      'as bare text in several lines',
      stream('\nTraceback:\r\n  one\tline\nboom\n'),
      'INVALID_AGENT_RESPONSE',
      patternOf('Traceback: one line boom'),
    ],
    [
      'as a text that begins like a field',
      stream('database is down'),
      'INVALID_AGENT_RESPONSE',
      patternOf('database is down'),
    ],
    [
      'after comments',
      stream(': ping\n\ndata: Agent not found\n\n'),
      'INVALID_AGENT_RESPONSE',
      patternOf('Agent not found'),
    ],
    ['as a page', stream('<html><title>Bad day</title></html>'), 'INVALID_AGENT_RESPONSE', /protocol \(Bad day\)$/],
    ['with a status', stream('data: {"error":{"code":-32602,"message":"boom"}}\n\n', 400), 'INVALID_PARAMS', 'boom'],
    [
      'with a status, as bare text',
      stream('Internal error: boom', 500),
      'INTERNAL_ERROR',
      /^The server answered 500 Internal Server Error with .*: Internal error: boom$/,
    ],
    ['with a status alone', stream('', 500), 'INTERNAL_ERROR', /500 Internal Server Error with an empty body/],
    [
      'as text/plain',
      { headers: { 'content-type': 'text/plain' }, body: 'boom' },
      'INVALID_AGENT_RESPONSE',
      /with text\/plain that is not of the protocol: boom$/,
    ],
    [
      'of a gateway',
      { status: 502, headers: { 'content-type': 'text/plain' }, body: 'upstream: boom' },
      'UNAVAILABLE',
      /^The server answered 502 Bad Gateway .*: upstream: boom$/,
    ],
  ];
  it.each(BOTH.flatMap((binding) => eitherBinding.map((row) => [binding, ...row] as const)))(
    'over %s is shown: %s',
    async (binding, _, answer, code, message) => {
      const error = await streamFailure(binding, answer, version);
      if (typeof message === 'string') expect(error.message).toBe(message);
      else expect(error.message).toMatch(message);
      expect(error.code).toMatch(code);
    },
  );

  it.each<readonly [string, string]>([
    ['in one line', rpc({ error: { code: -32001, message: 'boom' } })],
    ['in several lines', JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'boom' } }, null, 2)],
    ['behind empty lines', `\n\n${rpc({ error: { code: -32001, message: 'boom' } })}\n\n`],
    ['behind a mark of the order of bytes', `\uFEFF${rpc({ error: { code: -32001, message: 'boom' } })}`],
    ['with a long text', rpc({ error: { code: -32001, message: 'boom', data: 'x'.repeat(200_000) } })],
  ])('is an error of JSON-RPC in one body %s', async (_, body) => {
    expect(await streamFailure('JSONRPC', stream(body), version)).toMatchObject({
      code: 'TASK_NOT_FOUND',
      name: 'TaskNotFoundError',
      message: 'boom',
    });
  });

  it('is read in any pieces', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'bööm' } }, null, 1);
    const answer: StubAnswer = (response, _) => {
      response.writeHead(200, STREAM);
      const bytes = [...Buffer.from(body)];
      const next = () => {
        const byte = bytes.shift();
        if (byte === undefined) response.end();
        else response.write(Buffer.of(byte), () => setImmediate(next));
      };
      next();
    };
    expect(await streamFailure('JSONRPC', answer, version)).toMatchObject({ code: 'TASK_NOT_FOUND', message: 'bööm' });
  });

  it.each(BOTH)('is no frame that was cut off, over %s', async (binding) => {
    for (const body of [
      'da',
      'data',
      'data:',
      'data: {"jsonrpc":"2.0","err',
      'event: error\ndat',
      '{"jsonrpc":"2.0","err',
    ]) {
      const error = await streamFailure(binding, stream(body), version);
      expect(error).toMatchObject({ name: 'ConnectionError', message: 'The stream ended before its task did' });
    }
  });

  it.each(BOTH)('is bounded and has no control characters, over %s', async (binding) => {
    const text = `\u001b[31mboom\u0007\u202e${'x'.repeat(100_000)}`;
    for (const answer of [stream(text), stream(`data: ${text}\n\n`), stream(text, 500), { status: 500, body: text }]) {
      const error = await streamFailure(binding, answer, version);
      expect(error.message).toMatch(/: \[31mboom x+…$/);
      expect(error.message.length).toBeLessThan(400);
    }
  });

  it.each(BOTH)('is not read further than an event may be, over %s', async (binding) => {
    for (const start of ['{"error":', 'boom ']) {
      const answer: StubAnswer = (response, _) => {
        response.writeHead(200, STREAM);
        const more = () =>
          response.destroyed || response.write(`${start}${'x\n'.repeat(1000)}`, () => setImmediate(more));
        more();
      };
      const error = await streamFailure(binding, answer, version, { eventBytes: 10_000 });
      expect(error).toMatchObject({
        code: 'INVALID_AGENT_RESPONSE',
        message: 'An event is longer than 10000 characters',
      });
    }
  });
});

describe('an error of a failed call over HTTP+JSON is shown', () => {
  it.each<readonly [string, StubAnswer, string, string | RegExp]>([
    [
      'google.rpc.Status',
      { status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'boom' } } },
      'INVALID_PARAMS',
      'boom',
    ],
    ['problem details', { status: 400, body: { title: 'no', detail: 'boom', status: 400 } }, 'INVALID_PARAMS', 'boom'],
    ['a text', { status: 500, body: { error: 'boom' } }, 'INTERNAL_ERROR', 'boom'],
    ['a message', { status: 500, body: { message: 'boom' } }, 'INTERNAL_ERROR', 'boom'],
    ['FastAPI', { status: 422, body: { detail: 'boom' } }, 'INVALID_PARAMS', 'boom'],
    [
      'the faults of FastAPI',
      { status: 422, body: { detail: [{ loc: ['body', 'message'], msg: 'boom', type: 'missing' }] } },
      'INVALID_PARAMS',
      'The agent answered 422 Unprocessable Entity: {"detail":[{"loc":["body","message"],"msg":"boom","type":"missing"}]}',
    ],
    [
      'Spring',
      { status: 500, body: { timestamp: 'x', status: 500, error: 'boom', path: '/x' } },
      'INTERNAL_ERROR',
      'boom',
    ],
    [
      'the first frame of a stream',
      stream('event: error\ndata: {"code":-32602,"message":"boom"}\n\n', 400),
      'INVALID_PARAMS',
      'boom',
    ],
    [
      'unknown JSON',
      { status: 500, body: { fault: 'boom' } },
      'INTERNAL_ERROR',
      'The agent answered 500 Internal Server Error: {"fault":"boom"}',
    ],
    ['200 with a text', { body: { error: 'boom' } }, 'INTERNAL_ERROR', 'boom'],
    ['200 with an object', { body: { error: { code: -32602, message: 'boom' } } }, 'INVALID_PARAMS', 'boom'],
    ['200 with a message', { body: { message: 'boom' } }, 'INTERNAL_ERROR', 'boom'],
    ['another text', { status: 500, body: 'boom' }, 'INTERNAL_ERROR', /: boom$/],
  ])('%s', async (_, answer, code, message) => {
    const error = await failure('HTTP+JSON', answer, {}, (client) => client.getTask('t1'));
    if (typeof message === 'string') expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
  });
});

it('an answer of JSON-RPC in one body that is declared as a stream is its only event', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task: task() } }, null, 2);
  await using stub = await StubAgent.start(() => stream(body));
  const client = await connect(stub.card());
  const events: object[] = [];
  for await (const event of client.sendStreamingMessage('hi')) events.push(event);
  expect(events).toEqual([{ task: task() }]);
});

it('lines before the first frame that are none of a stream are passed over', async () => {
  await using stub = await StubAgent.start(() => stream(`ok\n\ndata: ${rpc({ result: { task: task() } })}\n\n`));
  const client = await connect(stub.card());
  const events: object[] = [];
  for await (const event of client.sendStreamingMessage('hi')) events.push(event);
  expect(events).toEqual([{ task: task() }]);
});
