import { describe, expect, it } from 'vitest';
import { A2AError, connect } from '../../packages/parley/src/exports/client.js';
import * as errors from '../../packages/parley/src/exports/index.js';
import { StubAgent, type StubAnswer, task } from './stub-agent.js';

const info = (reason: string, more: object = {}) => [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org', ...more },
];
const rpc = (error: object, status = 200): StubAnswer => ({ status, body: { jsonrpc: '2.0', id: 1, error } });
const html = (status: number, title: string): StubAnswer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!doctype html><html><head><title>${title}</title></head><body>${'x'.repeat(2000)}</body></html>`,
});

async function failure(binding: string, answer: StubAnswer): Promise<A2AError> {
  await using stub = await StubAgent.start(() => answer);
  const client = await connect(stub.card({}, [binding]), { retry: { attempts: 0 } });
  const error: unknown = await client.getTask('t1').then(
    () => expect.unreachable('the call succeeded'),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(A2AError);
  return error as A2AError;
}

const classes: Readonly<Record<string, unknown>> = { ...errors };

type Row = readonly [what: string, answer: StubAnswer, code: errors.ErrorCode, type?: keyof typeof errors];

function rows(list: readonly Row[]) {
  return list.map(([what, answer, code, type = 'A2AError']) => ({ what, answer, code, type }));
}

describe('an error over JSON-RPC', () => {
  it.each(
    rows([
      [
        'by its reason, whatever the number',
        rpc({ code: -32000, message: 'x', data: info('TASK_NOT_FOUND') }),
        'TASK_NOT_FOUND',
        'TaskNotFoundError',
      ],
      [
        'by its number where there is no reason',
        rpc({ code: -32002, message: 'x' }),
        'TASK_NOT_CANCELABLE',
        'TaskNotCancelableError',
      ],
      [
        'by its number where the reason is of another domain',
        rpc({ code: -32003, message: 'x', data: [{ ...info('TASK_NOT_FOUND')[0], domain: 'x.example' }] }),
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
        'PushNotificationNotSupportedError',
      ],
      [
        'with data of any form',
        rpc({ code: -32004, message: 'x', data: 'no' }),
        'UNSUPPORTED_OPERATION',
        'UnsupportedOperationError',
      ],
      [
        'ContentTypeNotSupported',
        rpc({ code: -32005, message: 'x' }),
        'CONTENT_TYPE_NOT_SUPPORTED',
        'ContentTypeNotSupportedError',
      ],
      [
        'InvalidAgentResponse',
        rpc({ code: -32006, message: 'x' }),
        'INVALID_AGENT_RESPONSE',
        'InvalidAgentResponseError',
      ],
      [
        'ExtendedAgentCardNotConfigured',
        rpc({ code: -32007, message: 'x' }),
        'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
        'ExtendedAgentCardNotConfiguredError',
      ],
      [
        'ExtensionSupportRequired',
        rpc({ code: -32008, message: 'x' }),
        'EXTENSION_SUPPORT_REQUIRED',
        'ExtensionSupportRequiredError',
      ],
      [
        'VersionNotSupported',
        rpc({ code: -32009, message: 'x' }, 500),
        'VERSION_NOT_SUPPORTED',
        'VersionNotSupportedError',
      ],
      ['invalid params', rpc({ code: -32602, message: 'x' }), 'INVALID_PARAMS', 'InvalidParamsError'],
      ['method not found', rpc({ code: -32601, message: 'x' }), 'METHOD_NOT_FOUND'],
      ['not JSON', rpc({ code: -32700, message: 'x' }, 400), 'PARSE_ERROR'],
      ['internal', rpc({ code: -32603, message: 'x' }), 'INTERNAL_ERROR', 'InternalError'],
      ['unauthenticated by number', rpc({ code: -31401, message: 'x' }), 'UNAUTHENTICATED', 'UnauthenticatedError'],
      ['a number nobody knows', rpc({ code: -32042, message: 'x' }), 'INTERNAL_ERROR', 'InternalError'],
    ]),
  )('is recognised: $what', async ({ answer, code, type }) => {
    const error = await failure('JSONRPC', answer);
    expect(error).toMatchObject({ code, message: 'x', name: type });
    expect(error).toBeInstanceOf(classes[type]);
  });

  it('keeps what it tells', async () => {
    const violations = [{ field: 'message.parts', description: 'must not be empty' }];
    const data = [
      ...info('INVALID_PARAMS', { metadata: { a: 'b' } }),
      { fieldViolations: violations },
      { retryDelay: '1.5s' },
    ];
    const { details } = await failure('JSONRPC', rpc({ code: -32602, message: 'x', data }));
    expect(details).toEqual({ metadata: { a: 'b' }, violations, retryAfterMs: 1500 });
    expect((await failure('JSONRPC', rpc({ code: -32042, message: 'x' }))).details.metadata).toEqual({
      jsonRpcCode: '-32042',
    });
  });
});

describe('an error over HTTP+JSON', () => {
  const status = (http: number, members: object): StubAnswer => ({
    status: http,
    body: { error: { code: http, message: 'x', ...members } },
  });
  it.each(
    rows([
      [
        'by its reason',
        status(400, { status: 'FAILED_PRECONDITION', details: info('VERSION_NOT_SUPPORTED') }),
        'VERSION_NOT_SUPPORTED',
        'VersionNotSupportedError',
      ],
      [
        'by the name of its status',
        status(400, { status: 'UNIMPLEMENTED' }),
        'UNSUPPORTED_OPERATION',
        'UnsupportedOperationError',
      ],
      ['by its HTTP status', status(409, {}), 'TASK_NOT_CANCELABLE', 'TaskNotCancelableError'],
      [
        'problem details by their type',
        {
          status: 404,
          headers: { 'content-type': 'application/problem+json' },
          body: JSON.stringify({
            type: 'https://a2a-protocol.org/errors/task-not-found',
            title: 'T',
            status: 404,
            detail: 'x',
          }),
        },
        'TASK_NOT_FOUND',
        'TaskNotFoundError',
      ],
      [
        'problem details by their status',
        { status: 415, body: { title: 'x', status: 415 } },
        'CONTENT_TYPE_NOT_SUPPORTED',
        'ContentTypeNotSupportedError',
      ],
      [
        '0.3 with its number',
        { status: 400, body: { code: -32003, message: 'x' } },
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
        'PushNotificationNotSupportedError',
      ],
      [
        '0.3 with a message alone, not found',
        { status: 404, body: { message: 'x' } },
        'TASK_NOT_FOUND',
        'TaskNotFoundError',
      ],
      [
        '0.3 with a message alone, unprocessable',
        { status: 422, body: { message: 'x' } },
        'INVALID_PARAMS',
        'InvalidParamsError',
      ],
      [
        '0.3 with a message alone, not implemented',
        { status: 501, body: { message: 'x' } },
        'UNSUPPORTED_OPERATION',
        'UnsupportedOperationError',
      ],
      [
        '0.3 with a message alone, bad answer of the agent',
        { status: 502, body: { message: 'x' } },
        'INVALID_AGENT_RESPONSE',
        'InvalidAgentResponseError',
      ],
      ['too many requests', { status: 429, body: { message: 'x' } }, 'RESOURCE_EXHAUSTED'],
    ]),
  )('is recognised: $what', async ({ answer, code, type }) => {
    const error = await failure('HTTP+JSON', answer);
    expect(error).toMatchObject({ code, message: 'x', name: type });
    expect(error).toBeInstanceOf(classes[type]);
  });

  it('tells the challenges of a 401 and when to come back', async () => {
    const headers = { 'www-authenticate': 'Bearer realm="a"', 'retry-after': '7' };
    const error = await failure('HTTP+JSON', { status: 401, headers, body: { message: 'x' } });
    expect(error).toMatchObject({ challenges: ['Bearer realm="a"'], details: { retryAfterMs: 7000 } });
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'])('what is no answer of the protocol, over %s', (binding) => {
  it.each<readonly [string, StubAnswer, errors.ErrorCode, RegExp]>([
    [
      'the page of a gateway',
      html(502, '502 Bad Gateway'),
      'UNAVAILABLE',
      /502 Bad Gateway with text\/html .*\(502 Bad Gateway\)$/,
    ],
    ['the page of a gateway that waited', html(504, 'Time-out'), 'UNAVAILABLE', /504/],
    ['a page for people', html(200, 'Welcome'), 'INVALID_AGENT_RESPONSE', /200 OK with text\/html .*\(Welcome\)$/],
    ['nothing', { status: 200 }, 'INVALID_AGENT_RESPONSE', /200 OK with an empty body/],
    ['nothing at all, from a gateway', { status: 503 }, 'UNAVAILABLE', /503 Service Unavailable with an empty body/],
    ['a wall', html(403, 'Forbidden'), 'PERMISSION_DENIED', /403/],
    ['a missing page', html(404, 'Not Found'), 'METHOD_NOT_FOUND', /404/],
    [
      'half of a JSON value',
      { body: '{"jsonrpc":"2.0","result":{"id"', headers: { 'content-type': 'application/json' } },
      'INVALID_AGENT_RESPONSE',
      /application\/json that is not of the protocol/,
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://elsewhere.example/x?token=1' } },
      'INVALID_AGENT_RESPONSE',
      /redirects to https:\/\/elsewhere.example\/x;/,
    ],
    [
      'a body that breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{');
        setImmediate(() => response.destroy());
      },
      'UNAVAILABLE',
      /broke off/,
    ],
    ['a connection that breaks off', (_, socket) => socket.destroy(), 'UNAVAILABLE', /cannot be reached/],
  ])('becomes a clear error: %s', async (_, answer, code, message) => {
    const error = await failure(binding, answer);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
    expect(error.message.length).toBeLessThan(300);
  });

  it.each<readonly [string, unknown]>([
    ['a task without an id', task('TASK_STATE_WORKING', { id: undefined })],
    ['a task without a status', { id: 't1' }],
    ['a list that is none', task('TASK_STATE_WORKING', { artifacts: {} })],
    ['an artifact without an id', task('TASK_STATE_WORKING', { artifacts: [{ parts: [] }] })],
  ])('is refused, and what is wrong is named: %s', async (_, value) => {
    const answer = { body: binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 1, result: value } : (value as object) };
    expect((await failure(binding, answer)).message).toMatch(/task\.(id|status|artifacts)/);
  });

  it('is not an answer that says more than this version knows', async () => {
    const value = task('TASK_STATE_NAPPING', { generation: 3, history: null, artifacts: [{ artifactId: 'a' }] });
    await using stub = await StubAgent.start(() => ({
      body: binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 1, result: value } : value,
    }));
    const client = await connect(stub.card({}, [binding]));
    expect(await client.getTask('t1')).toMatchObject({
      status: { state: 'TASK_STATE_NAPPING' },
      artifacts: [{ parts: [] }],
    });
  });

  it('is not read further than its limit', async () => {
    await using stub = await StubAgent.start(() => (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('x'.repeat(5_000));
    });
    const client = await connect(stub.card({}, [binding]), { answerBytes: 1_000 });
    await expect(client.getTask('t1')).rejects.toThrow('longer than 1000 bytes');
  });
});
