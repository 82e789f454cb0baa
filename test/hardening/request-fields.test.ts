import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_NAMES, OPERATIONS } from '../../packages/parley/src/operations/operations.js';
import type { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { AttackedServer } from './attacked-server.js';
import { BINDINGS, type Binding, callBytes, hasBody, pathMembers } from './calls.js';
import { readError } from './error-answer.js';
import { type HttpAnswer, readAnswer } from './http-answer.js';
import { fullRequest, wrongRequests } from './wrong-values.js';

let server: AttackedServer;
let connection: RawConnection;
beforeAll(async () => {
  server = await AttackedServer.start();
  connection = await server.open();
});
afterAll(async () => {
  connection[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

let read = 0;
/** One call after the other on the same connection. */
async function call(bytes: Uint8Array): Promise<HttpAnswer> {
  connection.socket.write(bytes);
  const { answer, end } = await connection.take((received) => readAnswer(received, read, 'POST'));
  read = end;
  return answer;
}

describe.each(OPERATION_NAMES)('%s', (operation) => {
  const type = OPERATIONS[operation].request;

  it.each(BINDINGS)('refuses every wrong value of every field over %s, and names the field', async (binding) => {
    const form = binding === 'HTTP+JSON' && !hasBody(operation) ? 'text' : 'json';
    const fromPath = binding === 'HTTP+JSON' ? pathMembers(operation) : [];
    const wrong = wrongRequests(type, form).filter(({ field }) => !fromPath.includes(field));
    expect(wrong.length).toBeGreaterThan(0);
    for (const { field, value, request } of wrong) {
      const answer = await call(callBytes(operation, binding, request));
      const about = `${field} = ${JSON.stringify(value) ?? 'absent'} was answered ${answer.text.slice(0, 600)}`;
      const { reason, fields } = readError(answer);
      expect(reason, about).toBe('INVALID_PARAMS');
      expect([...fields.keys()], about).toContain(field);
    }
  });

  it.each(BINDINGS)('understands a request with every field over %s', async (binding) => {
    const answer = await call(callBytes(operation, binding, fullRequest(type)));
    if (!answer.text.includes('"error"')) return;
    const { reason, fields } = readError(answer);
    if (reason !== 'INVALID_PARAMS') return;
    // Nothing but the server itself can make a page token, and a webhook needs a public address.
    const isLimited = (field: string) => /^pageToken$|(?:^|\.taskPushNotificationConfig\.)url$/.test(field);
    expect([...fields.keys()].filter((field) => !isLimited(field))).toEqual([]);
  });
});

const message = (more: object = {}) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more });
const LENIENT: readonly (readonly [string, object])[] = [
  [
    'names in snake_case',
    { message: { message_id: 'm', role: 'ROLE_USER', parts: [{ text: 'hi', media_type: 'text/plain' }] } },
  ],
  ['enum numbers', { message: message({ role: 1 }) }],
  ['null for absent', { message: message({ contextId: null, metadata: null, extensions: null }), configuration: null }],
  ['"" for absent', { tenant: '', message: message({ contextId: '', taskId: '' }) }],
  ['unknown members', { message: message({ kind: 'message', generation: '7' }), final: true }],
  ['integral texts', { message: message(), configuration: { historyLength: '5' } }],
  ['integral numbers', { message: message(), configuration: { historyLength: 10.0 } }],
  ['an empty text', { message: message({ parts: [{ text: '' }] }) }],
  ['null as data', { message: message({ parts: [{ data: null }] }) }],
  ['URL-safe base64 without padding', { message: message({ parts: [{ raw: '-_8' }] }) }],
  ['null beside the content', { message: message({ parts: [{ text: 'hi', raw: null, url: null }] }) }],
  [
    'names of prototypes in free objects',
    { message: message({ metadata: JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}') }) },
  ],
  [
    'names of prototypes as unknown members',
    JSON.parse(`{"__proto__":{"x":1},"constructor":5,"toString":1,"message":${JSON.stringify(message())}}`),
  ],
];

describe.each(BINDINGS)('over %s a message is taken with', (binding: Binding) => {
  it.each(LENIENT)('%s', async (_, request) => {
    const answer = await call(callBytes('sendMessage', binding, { ...request }));
    expect(answer.text).toContain('TASK_STATE_COMPLETED');
    expect(answer.status).toBe(200);
  });
});

it('nothing of it changed what objects inherit, and the server is well', async () => {
  const metadata = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as object;
  const sent = await call(callBytes('sendMessage', 'JSON-RPC', { message: message({ metadata }) }));
  const { id } = (JSON.parse(sent.text) as { result: { task: { id: string } } }).result.task;
  const got = await call(callBytes('getTask', 'HTTP+JSON', { id }));
  expect(got.text).toContain('"metadata":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  const other = await call(callBytes('sendMessage', 'HTTP+JSON', { message: message() }));
  expect(other.text).not.toContain('polluted');
  await server.mustAnswer();
  expect((await server.holdings()).log).toEqual([]);
});
