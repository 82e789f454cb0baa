import { describe, expect, it } from 'vitest';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';
import { framesOf, jsonOf, MemoryRequest, textOf } from '../../packages/parley/test/exchange-request.js';
import { EVENTS, TASK } from '../../packages/parley/test/recording-handler.js';

const GET_TASK = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't1' } };

describe('the JSON-RPC endpoint (§1.6)', () => {
  it('answers a call with its result under the same id', async () => {
    const answer = await new BoundAgent().rpc('GetTask', { id: 't1' });
    expect(answer.status).toBe(200);
    expect(answer.headers).toEqual({ 'content-type': 'application/json' });
    expect(await jsonOf(answer)).toEqual({ jsonrpc: '2.0', id: 1, result: TASK });
  });

  it.each(['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])(
    'answers %s with 405, what is allowed and a JSON body',
    async (method) => {
      const answer = await new BoundAgent().jsonRpc(new MemoryRequest({ method }));
      expect(answer.status).toBe(405);
      expect(answer.headers).toMatchObject({ allow: 'POST', 'content-type': 'application/json' });
      expect(await jsonOf(answer)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
    },
  );

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'reads a body of type %s',
    async (type) => {
      const answer = await new BoundAgent().rpc('GetTask', { id: 't1' }, { headers: { 'content-type': type } });
      expect(await jsonOf(answer)).toMatchObject({ result: TASK });
    },
  );

  it.each(['text/plain', 'application/a2a+json', 'application/xml', 'application/jsonx', ''])(
    'refuses a body of type "%s" with 200 and -32005, unread',
    async (type) => {
      const request = new MemoryRequest({ headers: { 'content-type': type, 'a2a-version': '1.0' }, body: GET_TASK });
      const answer = await new BoundAgent().jsonRpc(request);
      expect(answer.status).toBe(200);
      expect(await jsonOf(answer)).toMatchObject({ id: null, error: { code: -32005 } });
      expect(request.bodyRead).toBe(false);
    },
  );

  it.each([
    ['a string', '"r1"'],
    ['an empty string', '""'],
    ['a string with quotes and line breaks', '"a\\"b\\nc\\u2028"'],
    ['an integer', '17'],
    ['zero', '0'],
    ['a negative integer', '-5'],
    ['null', 'null'],
    ['a fraction', '1.5'],
    ['an integer beyond 2^53', '9007199254740993'],
    ['an integer of 64 bits', '18446744073709551615'],
  ])('echoes an id that is %s with its type and value', async (_name, id) => {
    const body = `{"jsonrpc":"2.0","params":{"id":"t1"},"id":${id},"method":"GetTask"}`;
    const text = await textOf(await new BoundAgent().rpc('', undefined, { body }));
    expect(text).toContain('"result":');
    const echoed = /"id":(.*?),"result"/s.exec(text)?.[1] ?? '';
    if (/^-?\d+$/.test(id)) expect(echoed).toBe(id);
    else expect(JSON.parse(echoed)).toStrictEqual(JSON.parse(id));
  });

  it.each([
    ['a batch', [GET_TASK], null],
    ['an empty batch', [], null],
    ['a string', '"GetTask"', null],
    ['null', 'null', null],
    ['a number', '1', null],
    ['no jsonrpc member', { id: 1, method: 'GetTask', params: { id: 't1' } }, 1],
    ['jsonrpc 1.0', { ...GET_TASK, jsonrpc: '1.0' }, 1],
    ['jsonrpc as a number', { ...GET_TASK, jsonrpc: 2.0 }, 1],
    ['no method', { jsonrpc: '2.0', id: 'x' }, 'x'],
    ['a method that is no string', { jsonrpc: '2.0', id: 'x', method: 7 }, 'x'],
    ['a notification', { jsonrpc: '2.0', method: 'GetTask', params: { id: 't1' } }, null],
    ['an id that is an object', { ...GET_TASK, id: { a: 1 } }, null],
    ['an id that is a list', { ...GET_TASK, id: [1] }, null],
    ['an id that is a boolean', { ...GET_TASK, id: true }, null],
    ['params that are a string', { ...GET_TASK, params: 't1' }, 1],
    ['params that are a number', { ...GET_TASK, params: 3 }, 1],
  ])('refuses %s with -32600', async (_name, body, id) => {
    const agent = new BoundAgent();
    const answer = await agent.rpc('', undefined, { body });
    expect(answer.status).toBe(200);
    expect(await jsonOf(answer)).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32600 } });
    expect(agent.handler.calls).toEqual([]);
  });

  it.each([
    ['an unknown method', { jsonrpc: '2.0', method: 'NoSuchMethod' }, -32601],
    ['bad params', { jsonrpc: '2.0', method: 'GetTask', params: { id: 7 } }, -32602],
    ['missing params', { jsonrpc: '2.0', method: 'SendStreamingMessage' }, -32602],
    ['nothing else wrong', { jsonrpc: '2.0', method: 'SendStreamingMessage', params: HELLO }, -32600],
  ])('says of a request without id and with %s what is wrong first', async (_name, body, code) => {
    const agent = new BoundAgent();
    const answer = await agent.rpc('', undefined, { body });
    expect(answer.status).toBe(200);
    expect(await jsonOf(answer)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
    expect(agent.handler.calls).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['blanks', '  '],
    ['half an object', '{"jsonrpc":"2.0","id":1'],
    ['single quotes', "{'jsonrpc':'2.0'}"],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ['a truncated character', new Uint8Array([0x22, 0xe2, 0x82, 0x22])],
  ])('answers %s with -32700 and id null', async (_name, body) => {
    const answer = await new BoundAgent().rpc('', undefined, { body });
    expect(answer.status).toBe(200);
    expect(await jsonOf(answer)).toMatchObject({
      id: null,
      error: { code: -32700, data: [{ reason: 'PARSE_ERROR' }] },
    });
  });

  it('reads past a byte order mark', async () => {
    const body = `\ufeff${JSON.stringify(GET_TASK)}`;
    expect(await jsonOf(await new BoundAgent().rpc('', undefined, { body }))).toMatchObject({ result: TASK });
  });

  it.each(['GetExtendedAgentCard', 'ListTasks'])('lets %s do without params', async (method) => {
    const agent = new BoundAgent();
    expect(await jsonOf(await agent.rpc(method))).toHaveProperty('result');
    expect(await jsonOf(await agent.rpc(method, null))).toHaveProperty('result');
    expect(agent.handler.calls.map(({ request }) => request)).toEqual([{}, {}]);
  });

  it('names what is missing where params are needed', async () => {
    expect(await jsonOf(await new BoundAgent().rpc('GetTask'))).toMatchObject({
      error: { code: -32602, data: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field: 'id' }] }] },
    });
  });

  it('refuses params by position with -32602', async () => {
    expect(await jsonOf(await new BoundAgent().rpc('GetTask', ['t1']))).toMatchObject({ error: { code: -32602 } });
  });

  it.each(['gettask', 'GetTask ', 'tasks/get', '', 'constructor', '__proto__', 'toString'])(
    'does not know the method "%s"',
    async (method) => {
      const answer = await new BoundAgent().rpc(method, {});
      expect(answer.status).toBe(200);
      expect(await jsonOf(answer)).toMatchObject({ error: { code: -32601, data: [{ reason: 'METHOD_NOT_FOUND' }] } });
    },
  );

  it('answers a deletion with an empty object (REC 23)', async () => {
    const answer = await new BoundAgent().rpc('DeleteTaskPushNotificationConfig', { taskId: 't1', id: 'p1' });
    expect(await jsonOf(answer)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each([
    ['media type before parse', { headers: { 'content-type': 'text/plain' }, body: '{' }, -32005],
    ['parse before envelope', { headers: { 'a2a-version': '9.9' }, body: '[' }, -32700],
    ['envelope before version', { headers: { 'a2a-version': '9.9' }, body: [] }, -32600],
    ['version before method', { headers: { 'a2a-version': '9.9' }, body: { ...GET_TASK, method: 'No' } }, -32009],
    ['method before params', { body: { ...GET_TASK, method: 'No', params: { id: 7 } } }, -32601],
    ['params before extensions', { body: { ...GET_TASK, params: {} } }, -32602],
    [
      'extensions before capability',
      { body: { ...GET_TASK, method: 'GetTaskPushNotificationConfig', params: { taskId: 't', id: 'c' } } },
      -32008,
    ],
    [
      'capability before operation',
      {
        headers: { 'a2a-extensions': 'urn:x' },
        body: { ...GET_TASK, method: 'GetTaskPushNotificationConfig', params: { taskId: 't', id: 'c' } },
      },
      -32003,
    ],
  ])('checks %s', async (_name, parts, code) => {
    const agent = new BoundAgent({
      capabilities: { pushNotifications: false, extensions: [{ uri: 'urn:x', required: true }] },
    });
    expect(await jsonOf(await agent.rpc('', undefined, parts))).toMatchObject({ error: { code } });
    expect(agent.handler.calls).toEqual([]);
  });
});

describe('JSON-RPC streams (§1.6, §1.7)', () => {
  it.each([
    ['SendStreamingMessage', HELLO],
    ['SubscribeToTask', { id: 't1' }],
  ])(
    'answer %s with events that are responses to the same id, each with its sequence number',
    async (method, params) => {
      const answer = await new BoundAgent().rpc(method, params, {
        body: { jsonrpc: '2.0', id: 'r"1', method, params },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers).toEqual({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
      expect(framesOf(await textOf(answer))).toEqual(
        EVENTS.map(({ seq, event }) => ({ id: String(seq), data: { jsonrpc: '2.0', id: 'r"1', result: event } })),
      );
    },
  );

  it('pass on the event id that the caller saw last, to streams only', async () => {
    const agent = new BoundAgent();
    const headers = { 'last-event-id': '41' };
    await agent.rpc('SubscribeToTask', { id: 't1' }, { headers });
    await agent.rpc('GetTask', { id: 't1' }, { headers });
    expect(agent.handler.calls.map(({ context }) => context.lastEventId)).toEqual(['41', undefined]);
  });
});
