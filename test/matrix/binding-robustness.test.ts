import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange, ExchangeResponse } from '../../packages/parley/src/bindings/http/exchange.js';
import { BoundAgent, HELLO, REST_BASE } from '../../packages/parley/test/bound-agent.js';
import { MemoryRequest, type MemoryRequestOptions, textOf } from '../../packages/parley/test/exchange-request.js';
import { assertNoInternals } from '../support/no-internals.js';

const METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
];
const PIECES = [
  'tasks',
  'message:send',
  'message:stream',
  'extendedAgentCard',
  'pushNotificationConfigs',
  't1',
  't1:cancel',
  't1:subscribe',
  ':cancel',
  '%',
  '%2F',
  '%00',
  '%ff',
  '..',
  '',
  'acme',
];

const names = fc.constantFrom(
  'content-type',
  'accept',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'last-event-id',
  'traceparent',
);
const values = fc.oneof(
  fc.constantFrom(
    'application/json',
    'application/a2a+json',
    'text/event-stream',
    '1.0',
    '0.3',
    'urn:x',
    '*/*',
    ';',
    ',',
    '',
  ),
  fc.string({ maxLength: 40 }),
);
const headers = fc.dictionary(names, values, { maxKeys: 5 });
/** Headers with which a request gets far enough for its body to matter. */
const goodHeaders = fc.constant({ 'content-type': 'application/json', 'a2a-version': '1.0' });
const anyHeaders = fc.oneof({ weight: 3, arbitrary: goodHeaders }, { weight: 1, arbitrary: headers });

const junk = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json(),
  fc.constant('['.repeat(50_000)),
  fc.constant(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`),
);
/** Something like a request: right members, anything in them. */
const nearMiss = fc.record(
  {
    message: fc.oneof(fc.constant(HELLO.message), fc.jsonValue()),
    id: fc.oneof(fc.constant('t1'), fc.jsonValue()),
    taskId: fc.jsonValue(),
    url: fc.jsonValue(),
    tenant: fc.jsonValue(),
    configuration: fc.jsonValue(),
    historyLength: fc.jsonValue(),
    pageSize: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const sound = fc.constantFrom<unknown>(
  HELLO,
  { id: 't1' },
  { taskId: 't1', id: 'c1' },
  { taskId: 't1', url: 'https://x.example' },
  {},
);
const params = fc.oneof(sound, nearMiss, fc.jsonValue());
const envelope = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: fc.jsonValue() }),
    id: fc.oneof(fc.string(), fc.double(), fc.integer(), fc.constant(null), fc.jsonValue()),
    method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, { weight: 1, arbitrary: fc.jsonValue() }),
    params,
  },
  { requiredKeys: ['jsonrpc', 'method'] },
);
const route = fc.constantFrom(
  '/message:send',
  '/message:stream',
  '/tasks',
  '/tasks/t1',
  '/acme/tasks/t1:cancel',
  '/tasks/t1:subscribe',
  '/tasks/t1/pushNotificationConfigs',
  '/tasks/t1/pushNotificationConfigs/c1',
  '/extendedAgentCard',
);
const anyPath = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
    ),
    {
      maxLength: 4,
    },
  )
  .map((pieces) => `/${pieces.join('/').replaceAll(/[?#\s]/g, '_')}`);
const path = fc.oneof(route, anyPath);
const query = fc.oneof(
  fc.constant(''),
  fc.constantFrom(
    '?pageSize=x',
    '?historyLength=%',
    '?A2A-Version=1.0',
    '?tenant=a&tenant=b',
    '?__proto__=1',
    '?%ff=%fe',
  ),
  fc.webQueryParameters().map((text) => `?${text}`),
);
const verb = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD');

/** Sends a request that may be anything; whatever comes back must be an answer in good form. */
async function probe(exchange: Exchange, parts: MemoryRequestOptions): Promise<ExchangeResponse> {
  const answer = await exchange(new MemoryRequest(parts));
  expect(answer.status).toBeGreaterThanOrEqual(200);
  expect(answer.status).toBeLessThan(500);
  for (const [name, value] of Object.entries(answer.headers)) {
    expect(name).toBe(name.toLowerCase());
    expect(value).not.toMatch(/[\r\n]/);
  }
  const text = await textOf(answer);
  const pieces = answer.headers['content-type'] === 'text/event-stream' ? framesIn(text) : [text];
  for (const piece of pieces) JSON.parse(piece);
  if (answer.status >= 400 || /^\{("jsonrpc":"2\.0","id":null,)?"error"/.test(text)) assertNoInternals(text);
  return answer;
}

const framesIn = (text: string): string[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data as string);

describe('whatever a peer sends', () => {
  it('to the JSON-RPC binding is answered in JSON that shows nothing of the inside', async () => {
    const agent = new BoundAgent();
    const parts = fc.record({
      method: fc.oneof(fc.constant('POST'), verb),
      headers: anyHeaders,
      body: fc.oneof(junk, envelope, envelope),
    });
    await fc.assert(
      fc.asyncProperty(parts, async (request) => void (await probe(agent.jsonRpc, request))),
      { numRuns: 1500 },
    );
    expect(agent.log).toEqual([]);
    expect(agent.clock.pendingTimers).toBe(0);
    expect(new Set(agent.handler.calls.map(({ operation }) => operation)).size).toBeGreaterThan(3);
  });

  it('to the HTTP+JSON binding, too', async () => {
    const agent = new BoundAgent();
    const url = fc.tuple(path, query).map(([way, question]) => `${REST_BASE}${way}${question}`);
    const parts = fc.record({ method: verb, url, headers: anyHeaders, body: fc.oneof(junk, params, params) });
    await fc.assert(
      fc.asyncProperty(parts, async (request) => void (await probe(agent.rest, request))),
      { numRuns: 1500 },
    );
    expect(agent.log).toEqual([]);
    expect(agent.clock.pendingTimers).toBe(0);
    expect(new Set(agent.handler.calls.map(({ operation }) => operation)).size).toBeGreaterThan(3);
  });

  it('nested too deeply is refused, and only then', async () => {
    const nestData = (depth: number) => {
      const data = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;
      return { message: { ...HELLO.message, parts: [{ data }] } };
    };
    // The envelope around the value does not count, so each binding takes the same.
    for (const [depth, isTaken] of [
      [100, true],
      [101, false],
    ] as const) {
      const agent = new BoundAgent();
      const overRpc = await textOf(await agent.rpc('SendMessage', nestData(depth)));
      expect(overRpc.includes('"result"'), `JSON-RPC at ${depth}`).toBe(isTaken);
      expect((await agent.call('POST /message:send', { body: nestData(depth) })).status).toBe(isTaken ? 200 : 400);
    }
  });

  it('a body that breaks off is the peer’s fault, and told without detail', async () => {
    const agent = new BoundAgent();
    for (const [exchange, url] of [
      [agent.jsonRpc, '/'],
      [agent.rest, `${REST_BASE}/message:send`],
    ] as const) {
      const request = new MemoryRequest({ url, headers: { 'content-type': 'application/json', 'a2a-version': '1.0' } });
      request.body = () => Promise.reject(new Error('read ECONNRESET'));
      const text = await textOf(await exchange(request));
      expect(text).toContain('"reason":"INVALID_REQUEST"');
      assertNoInternals(text);
    }
    expect(agent.log).toEqual([]);
  });
});

describe('the check for internals', () => {
  it.each([
    'at Object.<anonymous> (/srv/app.js:1:2)',
    '{"message":"boom\\n    at run (node:internal/process/task_queues:103:5)"}',
    'open /var/lib/x',
    'failed in turn.ts',
    'TypeError: x',
    "Cannot read properties of undefined (reading 'a')",
    'handler.x is not a function',
    'Unexpected token } in JSON',
    'connect ECONNREFUSED',
    'SQLITE_BUSY',
    '{"id":undefined}',
    '[object Object]',
  ])('finds %s', (text) => {
    expect(() => assertNoInternals(text)).toThrow('the answer shows');
  });

  it('lets an ordinary answer pass', () => {
    assertNoInternals(
      '{"error":{"code":404,"status":"NOT_FOUND","message":"Task not found","details":[' +
        '{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",' +
        '"domain":"a2a-protocol.org","metadata":{"taskId":"0190a:b"}}]}}',
    );
  });
});
