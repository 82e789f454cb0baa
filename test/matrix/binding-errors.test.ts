import { describe, expect, it } from 'vitest';
import type { Authenticator } from '../../packages/parley/src/auth/authenticator.js';
import { ERROR_NUMBERS, ERROR_STATUS } from '../../packages/parley/src/bindings/http/error-numbers.js';
import { v1_0 } from '../../packages/parley/src/codec/v1_0/wire-codec.js';
import { A2AError, ERROR_CODES, type ErrorCode } from '../../packages/parley/src/errors/a2a-error.js';
import { InvalidParamsError, UnauthenticatedError } from '../../packages/parley/src/errors/standard-errors.js';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';
import { jsonOf, textOf } from '../../packages/parley/test/exchange-request.js';
import { EVENTS, streamOf } from '../../packages/parley/test/recording-handler.js';
import { assertNoInternals } from '../support/no-internals.js';
import { oldCodec } from './old-codec.js';

/** §3.1 and §3.2: code, JSON-RPC code and HTTP status there, HTTP status and name over HTTP+JSON. */
const ROWS: readonly (readonly [ErrorCode, number, number, number, string])[] = [
  ['TASK_NOT_FOUND', -32001, 200, 404, 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', -32002, 200, 400, 'FAILED_PRECONDITION'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003, 200, 400, 'FAILED_PRECONDITION'],
  ['UNSUPPORTED_OPERATION', -32004, 200, 400, 'FAILED_PRECONDITION'],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32005, 200, 400, 'INVALID_ARGUMENT'],
  ['INVALID_AGENT_RESPONSE', -32006, 200, 500, 'INTERNAL'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007, 200, 400, 'FAILED_PRECONDITION'],
  ['EXTENSION_SUPPORT_REQUIRED', -32008, 200, 400, 'FAILED_PRECONDITION'],
  ['VERSION_NOT_SUPPORTED', -32009, 200, 400, 'FAILED_PRECONDITION'],
  ['PARSE_ERROR', -32700, 200, 400, 'INVALID_ARGUMENT'],
  ['INVALID_REQUEST', -32600, 200, 400, 'INVALID_ARGUMENT'],
  ['METHOD_NOT_FOUND', -32601, 200, 404, 'NOT_FOUND'],
  ['METHOD_NOT_ALLOWED', -32600, 405, 405, 'UNIMPLEMENTED'],
  ['INVALID_PARAMS', -32602, 200, 400, 'INVALID_ARGUMENT'],
  ['PAYLOAD_TOO_LARGE', -32600, 413, 413, 'INVALID_ARGUMENT'],
  ['UNAUTHENTICATED', -31401, 401, 401, 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', -31403, 403, 403, 'PERMISSION_DENIED'],
  ['RESOURCE_EXHAUSTED', -32603, 200, 429, 'RESOURCE_EXHAUSTED'],
  ['UNAVAILABLE', -32603, 200, 503, 'UNAVAILABLE'],
  ['INTERNAL_ERROR', -32603, 200, 500, 'INTERNAL'],
];

/** The text of the specification comes first (§9.5). */
const TEXTS: { readonly [Code in ErrorCode]?: string } = {
  PARSE_ERROR: 'Invalid JSON payload: What happened',
  INVALID_REQUEST: 'Request payload validation error: What happened',
  INVALID_PARAMS: 'Invalid parameters: What happened',
};
const INFO = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', domain: 'a2a-protocol.org' };
const SECRET = 'ENOENT: no such file or directory, open /var/lib/secret/password.txt';

function agentFailing(thrown: unknown): BoundAgent {
  const agent = new BoundAgent();
  agent.handler.behaviours.getTask = () => {
    throw thrown;
  };
  return agent;
}

const overRpc = (agent: BoundAgent) => agent.rpc('GetTask', { id: 't1' });
const overRest = (agent: BoundAgent) => agent.call('GET /tasks/t1');

describe('errors of the protocol', () => {
  it('are all in the tables', () => {
    const codes = [...ERROR_CODES].sort();
    expect(ROWS.map(([code]) => code).sort()).toEqual(codes);
    expect(Object.keys(ERROR_NUMBERS).sort()).toEqual(codes);
    expect(Object.keys(ERROR_STATUS).sort()).toEqual(codes);
  });

  it.each(ROWS)('%s is %i (HTTP %i) over JSON-RPC', async (reason, code, status) => {
    const answer = await overRpc(agentFailing(new A2AError(reason, 'What happened', { metadata: { taskId: 't1' } })));
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json');
    const message = TEXTS[reason] ?? 'What happened';
    const error = { code, message, data: [{ ...INFO, reason, metadata: { taskId: 't1' } }] };
    expect(await jsonOf(answer)).toEqual({ jsonrpc: '2.0', id: 1, error });
  });

  it.each(ROWS)('%s is HTTP %i/%i %i %s over HTTP+JSON', async (reason, _code, _rpc, status, name) => {
    const answer = await overRest(agentFailing(new A2AError(reason, 'What happened', { metadata: { taskId: 't1' } })));
    expect(answer.status).toBe(status);
    const details = [{ ...INFO, reason, metadata: { taskId: 't1' } }];
    const message = TEXTS[reason] ?? 'What happened';
    expect(await jsonOf(answer)).toEqual({ error: { code: status, status: name, message, details } });
  });

  it('carry an ErrorInfo with an empty metadata object when there is nothing to add', async () => {
    const error = new A2AError('UNSUPPORTED_OPERATION', 'No');
    const info = { ...INFO, reason: 'UNSUPPORTED_OPERATION', metadata: {} };
    expect(await jsonOf(await overRpc(agentFailing(error)))).toMatchObject({ error: { data: [info] } });
    expect(await jsonOf(await overRest(agentFailing(error)))).toMatchObject({ error: { details: [info] } });
  });

  it('name the members at fault in a BadRequest', async () => {
    const violations = [{ field: 'message.parts[0]', description: 'must have content' }];
    const bad = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations };
    const error = new InvalidParamsError(violations);
    expect(await jsonOf(await overRpc(agentFailing(error)))).toMatchObject({ error: { data: [INFO, bad] } });
    expect(await jsonOf(await overRest(agentFailing(error)))).toMatchObject({ error: { details: [INFO, bad] } });
  });

  it.each([
    [0, '0s', '1'],
    [1, '0.001s', '1'],
    [1500, '1.5s', '2'],
    [60_000, '60s', '60'],
  ])(
    'tell to try again after %i ms, as a RetryInfo and a header in whole seconds',
    async (retryAfterMs, retryDelay, header) => {
      const error = new A2AError('RESOURCE_EXHAUSTED', 'Too much', { retryAfterMs });
      const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay };
      for (const [answer, member] of [
        [await overRpc(agentFailing(error)), 'data'],
        [await overRest(agentFailing(error)), 'details'],
      ] as const) {
        expect(answer.headers['retry-after']).toBe(header);
        expect(await jsonOf(answer)).toMatchObject({ error: { [member]: [INFO, info] } });
      }
    },
  );

  it('never carry their cause', async () => {
    const error = new A2AError('UNAVAILABLE', 'Later', {}, { cause: new Error(SECRET) });
    for (const answer of [await overRpc(agentFailing(error)), await overRest(agentFailing(error))]) {
      expect(await textOf(answer)).not.toContain('secret');
    }
  });
});

describe('errors from elsewhere', () => {
  const unexpected: readonly (readonly [string, unknown])[] = [
    ['an Error', new Error(SECRET)],
    ['a TypeError', new TypeError("Cannot read properties of undefined (reading 'x')")],
    ['a string', SECRET],
    ['undefined', undefined],
    ['null', null],
    ['an object that looks like one of ours', { code: 'TASK_NOT_FOUND', message: SECRET, details: {} }],
  ];

  it.each(unexpected)('%s becomes a constant internal error, its text goes to the log', async (_name, thrown) => {
    for (const [call, constant] of [
      [overRpc, { id: 1, error: { code: -32603, message: 'Internal error', data: [{ metadata: {} }] } }],
      [overRest, { error: { code: 500, message: 'Internal error', details: [{ metadata: {} }] } }],
    ] as const) {
      const agent = agentFailing(thrown);
      const text = await textOf(await call(agent));
      expect(JSON.parse(text)).toMatchObject(constant);
      assertNoInternals(text);
      expect(agent.log).toEqual([
        { level: 'error', message: expect.any(String), fields: expect.objectContaining({ error: thrown }) },
      ]);
    }
  });

  it('failing storage becomes UNAVAILABLE, to be tried again', async () => {
    const agent = agentFailing(new StorageError(SECRET));
    const rest = await overRest(agent);
    expect(rest.status).toBe(503);
    expect(rest.headers['retry-after']).toBe('1');
    const rpc = await overRpc(agent);
    expect(rpc.status).toBe(200);
    expect(rpc.headers['retry-after']).toBe('1');
    for (const text of [await textOf(rest), await textOf(rpc)]) {
      expect(text).toContain('"reason":"UNAVAILABLE"');
      assertNoInternals(text);
    }
    expect(agent.log.map(({ level }) => level)).toEqual(['error', 'error']);
  });

  it('an answer that cannot be made into JSON is an internal error', async () => {
    const agent = new BoundAgent();
    agent.handler.behaviours.getTask = () => ({ id: 't1', size: 1n });
    expect(await jsonOf(await overRpc(agent))).toMatchObject({ error: { code: -32603 } });
    expect((await overRest(agent)).status).toBe(500);
  });
});

describe('authentication (Spec §3.3.2, §7)', () => {
  const authenticator = (answer: () => Promise<{ id: string } | undefined>): Authenticator => ({
    challenges: ['Bearer realm="a"', 'Basic'],
    optional: true,
    authenticate: async () => {
      const user = await answer();
      return user ? { kind: 'user', user } : { kind: 'anonymous' };
    },
  });

  it('hands the user on, or nobody, and leaves the decision to the operation', async () => {
    const users = [{ id: 'jwt|alice' }, undefined, { id: 'jwt|bob' }, undefined];
    const agent = new BoundAgent({ authenticator: authenticator(async () => users.shift()) });
    await overRpc(agent);
    await overRpc(agent);
    await overRest(agent);
    await overRest(agent);
    expect(agent.handler.calls.map(({ context }) => context.user?.id)).toEqual([
      'jwt|alice',
      undefined,
      'jwt|bob',
      undefined,
    ]);
    expect('user' in (agent.handler.calls[1]?.context ?? {})).toBe(false);
  });

  it('answers 401 with a challenge and a JSON body when the operation wants a user', async () => {
    const agent = agentFailing(new UnauthenticatedError(['Bearer']));
    const rpc = await overRpc(agent);
    expect([rpc.status, rpc.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(await jsonOf(rpc)).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      error: { data: [{ reason: 'UNAUTHENTICATED' }] },
    });
    const rest = await overRest(agent);
    expect([rest.status, rest.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(await jsonOf(rest)).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
  });

  it('challenges as the authenticator does where the error has no challenge', async () => {
    const agent = new BoundAgent({
      authenticator: authenticator(async () => Promise.reject(new UnauthenticatedError([]))),
    });
    for (const answer of [await overRpc(agent), await overRest(agent)]) {
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="a", Basic');
    }
    expect(agent.handler.calls).toEqual([]);
  });

  it('says 401 as plain JSON even to a streaming call', async () => {
    const agent = new BoundAgent();
    agent.handler.behaviours.sendStreamingMessage = () => {
      throw new UnauthenticatedError(['Bearer']);
    };
    const headers = { accept: 'text/event-stream' };
    for (const answer of [
      await agent.rpc('SendStreamingMessage', HELLO, { headers }),
      await agent.call('POST /message:stream', { body: HELLO, headers }),
    ]) {
      expect(answer.status).toBe(401);
      expect(answer.headers['content-type']).toBe('application/json');
    }
  });

  it('an authenticator that breaks is an internal error, not an open door', async () => {
    const agent = new BoundAgent({ authenticator: authenticator(async () => Promise.reject(new Error(SECRET))) });
    expect(await jsonOf(await overRpc(agent))).toMatchObject({ error: { code: -32603 } });
    expect((await overRest(agent)).status).toBe(500);
    expect(agent.handler.calls).toEqual([]);
  });
});

describe('capabilities (Spec §3.3.4)', () => {
  const REFUSED: readonly (readonly [string, string, string, unknown])[] = [
    ['streaming', 'SendStreamingMessage', 'UNSUPPORTED_OPERATION', HELLO],
    ['streaming', 'SubscribeToTask', 'UNSUPPORTED_OPERATION', { id: 't1' }],
    [
      'pushNotifications',
      'CreateTaskPushNotificationConfig',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      { taskId: 't', url: 'https://x.example' },
    ],
    ['pushNotifications', 'GetTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED', { taskId: 't', id: 'c' }],
    ['pushNotifications', 'ListTaskPushNotificationConfigs', 'PUSH_NOTIFICATION_NOT_SUPPORTED', { taskId: 't' }],
    [
      'pushNotifications',
      'DeleteTaskPushNotificationConfig',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      { taskId: 't', id: 'c' },
    ],
    [
      'pushNotifications',
      'SendMessage',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      { ...HELLO, configuration: { taskPushNotificationConfig: { url: 'https://x.example' } } },
    ],
    ['extendedAgentCard', 'GetExtendedAgentCard', 'UNSUPPORTED_OPERATION', {}],
  ];

  it.each(REFUSED)(
    'without %s refuses %s with %s, whether false or absent',
    async (capability, method, reason, params) => {
      const agent = new BoundAgent({ capabilities: { [capability]: false } });
      expect(await jsonOf(await agent.rpc(method, params))).toMatchObject({ error: { data: [{ reason }] } });
      const { [capability as 'streaming']: _absent, ...others } = agent.card.capabilities;
      agent.card = { ...agent.card, capabilities: others };
      expect(await jsonOf(await agent.rpc(method, params))).toMatchObject({ error: { data: [{ reason }] } });
      expect(agent.handler.calls).toEqual([]);
    },
  );

  it.each([
    ['POST /message:stream', { body: HELLO }, 'UNSUPPORTED_OPERATION'],
    ['GET /tasks/t1:subscribe', {}, 'UNSUPPORTED_OPERATION'],
    ['GET /tasks/t1/pushNotificationConfigs', {}, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GET /extendedAgentCard', {}, 'UNSUPPORTED_OPERATION'],
  ])('refuses %s over HTTP+JSON too', async (line, parts, reason) => {
    const agent = new BoundAgent({
      capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    });
    const answer = await agent.call(line, parts);
    expect(answer.status).toBe(400);
    expect(await jsonOf(answer)).toMatchObject({ error: { details: [{ reason }] } });
  });
});

describe('ids that are too long', () => {
  const fits = 'i'.repeat(1024);
  const long = `${fits}i`;
  const hello = (members: object) => ({ message: { ...HELLO.message, ...members } });
  it.each([
    ['SendMessage', (id: string) => ({ ...HELLO, tenant: id }), 'tenant'],
    ['SendMessage', (id: string) => hello({ messageId: id }), 'message.messageId'],
    ['SendStreamingMessage', (id: string) => hello({ contextId: id }), 'message.contextId'],
    ['SendMessage', (id: string) => hello({ taskId: id }), 'message.taskId'],
    ['SendMessage', (id: string) => hello({ referenceTaskIds: ['a', id] }), 'message.referenceTaskIds[1]'],
    ['GetTask', (id: string) => ({ id }), 'id'],
    ['ListTasks', (id: string) => ({ contextId: id }), 'contextId'],
    ['GetTaskPushNotificationConfig', (id: string) => ({ taskId: id, id: 'c' }), 'taskId'],
  ])('are refused by %s, and the field is named (%#)', async (method, params, field) => {
    const agent = new BoundAgent();
    const refused = await textOf(await agent.rpc(method, params(long)));
    expect(JSON.parse(refused.replace(/^data: /, '')).error).toMatchObject({ code: -32602 });
    expect(refused).toContain(`"field":"${field}"`);
    expect(refused.length).toBeLessThan(1024);
    expect(agent.handler.calls).toEqual([]);
    await textOf(await agent.rpc(method, params(fits)));
    expect(agent.handler.calls).toHaveLength(1);
  });

  it('are not echoed when they are those of a JSON-RPC request', async () => {
    const agent = new BoundAgent();
    const ask = async (id: string) =>
      jsonOf(await agent.rpc('', undefined, { body: { jsonrpc: '2.0', id, method: 'GetTask', params: { id: 't' } } }));
    expect(await ask(long)).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await ask(fits)).toMatchObject({ id: fits, result: {} });
  });
});

describe('parts of a message', () => {
  const message = (count: number) => ({ message: { ...HELLO.message, parts: Array(count).fill({ text: 'x' }) } });

  it('may be as many as the limit, and no more', async () => {
    const agent = new BoundAgent();
    expect(await jsonOf(await agent.rpc('SendMessage', message(1000)))).toHaveProperty('result');
    for (const answer of [
      await agent.rpc('SendMessage', message(1001)),
      await agent.rpc('SendStreamingMessage', message(1001)),
      await agent.call('POST /message:send', { body: message(1001) }),
    ]) {
      expect(await textOf(answer)).toContain('"field":"message.parts"');
    }
    expect(agent.handler.calls).toHaveLength(1);
  });
});

describe('a stream that fails before its first event (§7.3)', () => {
  const agentRefusing = (thrown: unknown) => {
    const agent = new BoundAgent();
    agent.handler.behaviours.sendStreamingMessage = () => streamOf([], thrown);
    return agent;
  };
  const notFound = new A2AError('TASK_NOT_FOUND', 'Task not found');

  it.each(['Go-http-client/1.1', 'Go-http-client/2.0', 'a2a-go/0.3.6', 'planner/2.1 (a2a-go 0.3)'])(
    'is one error frame over JSON-RPC for the Go client, which calls itself %s',
    async (agent) => {
      const headers = { accept: 'text/event-stream', 'user-agent': agent };
      const answer = await agentRefusing(notFound).rpc('SendStreamingMessage', HELLO, { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('text/event-stream');
      const text = await textOf(answer);
      expect(text).toMatch(/^data: [^\n]*\n\n$/);
      expect(JSON.parse(text.slice(6))).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code: -32001 } });
    },
  );

  it.each([
    {},
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: 'text/event-stream' },
    { accept: 'text/event-stream', 'user-agent': 'node' },
    { accept: 'text/event-stream', 'user-agent': 'curl/8.5 like Go-http-client' },
  ])('is plain JSON over JSON-RPC for a client that sends %j', async (headers: Record<string, string>) => {
    const answer = await agentRefusing(notFound).rpc('SendStreamingMessage', HELLO, { headers });
    expect(answer.headers['content-type']).toBe('application/json');
    expect(await jsonOf(answer)).toMatchObject({ id: 1, error: { code: -32001 } });
  });

  it.each([
    ['text/event-stream', 'text/event-stream'],
    ['application/json, text/event-stream', 'text/event-stream'],
    ['*/*', 'application/json'],
  ])('is for clients of a version that reads frames only, which accept %s, %s', async (accept, type) => {
    const old = { url: 'http://x.example', protocolBinding: 'JSONRPC', protocolVersion: '0.3' };
    const agent = new BoundAgent({ codecs: [v1_0, { ...oldCodec, framesErrors: true }], interfaces: [old] });
    agent.handler.behaviours.sendStreamingMessage = () => streamOf([], notFound);
    const answer = await agent.rpc('message/stream', HELLO, { headers: { accept, 'a2a-version': '0.3' } });
    expect(answer.headers['content-type']).toBe(type);
  });

  it('has an object as data for the Go client of an older version, which reads no array', async () => {
    const old = { url: 'http://x.example', protocolBinding: 'JSONRPC', protocolVersion: '0.3' };
    const agent = new BoundAgent({ codecs: [v1_0, { ...oldCodec, framesErrors: true }], interfaces: [old] });
    agent.handler.behaviours.sendStreamingMessage = () => streamOf([], notFound);
    const headers = { 'user-agent': 'Go-http-client/1.1', 'a2a-version': '0.3' };
    const text = await textOf(await agent.rpc('message/stream', HELLO, { headers }));
    const details = [expect.objectContaining({ reason: 'TASK_NOT_FOUND' })];
    expect(JSON.parse(text.slice(6))).toMatchObject({ error: { code: -32001, data: { details } } });
  });

  it('is a frame for the Go client before the handler, too, and for streaming methods only', async () => {
    const headers = { accept: 'text/event-stream', 'user-agent': 'Go-http-client/1.1' };
    const agent = new BoundAgent();
    for (const parts of [{ headers }, { headers: { ...headers, 'a2a-version': '9.9' } }]) {
      const answer = await agent.rpc('SubscribeToTask', {}, parts);
      expect(answer.headers['content-type']).toBe('text/event-stream');
    }
    const unary = await agent.rpc('GetTask', {}, { headers });
    expect(unary.headers['content-type']).toBe('application/json');
  });

  it('has its proper status over HTTP+JSON', async () => {
    const headers = { accept: 'text/event-stream' };
    const answer = await agentRefusing(notFound).call('POST /message:stream', { body: HELLO, headers });
    expect(answer.status).toBe(404);
    expect(await jsonOf(answer)).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
  });
});

describe('a stream that fails later (Spec §3.5.2)', () => {
  it.each([
    [new A2AError('INVALID_AGENT_RESPONSE', 'Bad'), -32006, 500, 'Bad'],
    [new Error(SECRET), -32603, 500, 'Internal error'],
    [new StorageError(SECRET), -32603, 503, 'Temporarily unavailable'],
  ])('ends with the error in its band', async (thrown, code, status, message) => {
    const agent = new BoundAgent();
    agent.handler.behaviours.sendStreamingMessage = () => streamOf(EVENTS, thrown);
    const rpc = await textOf(await agent.rpc('SendStreamingMessage', HELLO));
    const last = (text: string) => JSON.parse(text.trimEnd().split('\n\n').at(-1)?.replace('data: ', '') ?? '');
    expect(last(rpc)).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code, message } });
    const rest = await textOf(await agent.call('POST /message:stream', { body: HELLO }));
    expect(last(rest)).toMatchObject({ error: { code: status, message } });
    for (const text of [rpc, rest]) {
      expect(text.split('\n\n')).toHaveLength(EVENTS.length + 2);
      assertNoInternals(text);
    }
  });

  it('so does one whose event cannot be written, and its source is let go', async () => {
    const agent = new BoundAgent();
    let released = 0;
    agent.handler.behaviours.sendStreamingMessage = async function* () {
      try {
        yield EVENTS[0];
        yield { seq: 2, event: { task: { id: 1n } } };
      } finally {
        released++;
      }
    };
    const text = await textOf(await agent.rpc('SendStreamingMessage', HELLO));
    expect(text).toContain('"code":-32603');
    expect(released).toBe(1);
  });
});
