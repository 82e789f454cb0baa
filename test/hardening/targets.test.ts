import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attackRequestLines } from '../../packages/parley/test/attack-request-lines.js';
import { AttackedServer } from './attacked-server.js';
import { BASE, httpJsonBytes, requestBytes, rpcBytes } from './calls.js';
import { readError } from './error-answer.js';

let server: AttackedServer;
beforeAll(async () => {
  server = await AttackedServer.start();
});
afterAll(async () => {
  await server.mustAnswer();
  expect((await server.holdings()).log).toEqual([]);
  await server[Symbol.asyncDispose]();
});

const get = (target: string, headers: Readonly<Record<string, string | undefined>> = {}) =>
  server.answer(requestBytes('GET', target, undefined, headers));

describe('a path that leads nowhere is not found, or no path:', () => {
  it.each<readonly [string, number]>([
    [`/../${BASE.slice(1)}/tasks`, 404],
    [`${BASE}/../agent/tasks`, 404],
    [`${BASE}//tasks`, 404],
    [`/${BASE}/tasks`, 404],
    [`${BASE}/tasks/`, 404],
    [`${BASE}/tasks//pushNotificationConfigs`, 404],
    [`${BASE}/tasks/x/`, 404],
    [`${BASE}/:cancel`, 404],
    [`${BASE}%2ftasks`, 404],
    [`${BASE}/tasks%2fx`, 404],
    [`${BASE}/.well-known/../../etc/passwd`, 404],
    [`${BASE}/tasks/%zz`, 400],
    [`${BASE}/tasks/%`, 400],
    [`${BASE}/tasks/%ff`, 400],
    [`${BASE}/tasks/%c0%ae`, 400],
    [`${BASE}/tasks/%ed%a0%80`, 400],
  ])('%s', async (target, status) => {
    const answer = await get(target);
    expect(answer.status).toBe(status);
    readError(answer);
  });
});

describe('ids and tenants of any kind are nothing but names:', () => {
  it.each([
    '%00',
    '%2f..%2f',
    '..%2f..',
    '%2e%2e',
    '__proto__',
    'constructor',
    '%0d%0ax-evil:%20yes',
    '%22%3e%3cscript%3e',
    "'%20or%201=1",
    '%f0%9f%98%80',
    'x'.repeat(1_024),
  ])('%.40s', async (name) => {
    const task = await get(`${BASE}/tasks/${name}`);
    expect(task.status).toBe(404);
    const { reason } = readError(task);
    expect(reason).toBe('TASK_NOT_FOUND');
    const asTenant = await get(`${BASE}/${name}/tasks`);
    expect(JSON.parse(asTenant.text)).toMatchObject({ tasks: [], totalSize: 0 });
    for (const { headers } of [task, asTenant]) expect([...headers.keys()]).not.toContain('x-evil');
  });

  it('but have a limit', async () => {
    const long = 'x'.repeat(12_000);
    for (const target of [`${BASE}/tasks/${long}`, `${BASE}/${long}/tasks`]) {
      const refused = await get(target);
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('must not have more than 1024 characters');
      expect(refused.text).not.toContain('xxx');
    }
  });

  it('a tenant sees its own tasks only, whatever it is called', async () => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    for (const tenant of ['%2e%2e', '%00', '__proto__', 'a%2fb']) {
      const sent = await server.answer(httpJsonBytes('POST', `/${tenant}/message:send`, { message }));
      const { id } = (JSON.parse(sent.text) as { task: { id: string } }).task;
      expect((await get(`${BASE}/${tenant}/tasks/${id}`)).status).toBe(200);
      expect((await get(`${BASE}/tasks/${id}`)).status).toBe(404);
      expect((await get(`${BASE}/other/tasks/${id}`)).status).toBe(404);
    }
  });
});

describe('what a caller wrote comes back in JSON only, never in a header:', () => {
  const EVIL = 'x%0d%0aset-cookie: a=b<script>"';
  const NAMES = new Set([
    'content-type',
    'content-length',
    'date',
    'connection',
    'keep-alive',
    'cache-control',
    'x-accel-buffering',
    'transfer-encoding',
    'allow',
    'x-request-id',
  ]);

  it.each([
    'a2a-version',
    'a2a-extensions',
    'x-a2a-extensions',
    'last-event-id',
    'traceparent',
    'accept',
    'origin',
    'x-forwarded-host',
    'forwarded',
    'host',
    'content-type',
    'authorization',
    'x-request-id',
  ])('the header %s', async (name) => {
    const message = { messageId: EVIL, contextId: EVIL, role: 'ROLE_USER', parts: [{ text: 'ask' }] };
    for (const answer of [
      await server.answer(rpcBytes('SendStreamingMessage', { message }, { [name]: EVIL })),
      await server.answer(httpJsonBytes('POST', '/message:stream', { message }, { [name]: EVIL })),
      await server.answer(httpJsonBytes('GET', `/tasks/${encodeURIComponent(EVIL)}`, undefined, { [name]: EVIL })),
      await server.answer(rpcBytes('GetTask', { id: EVIL, tenant: '\r\nset-cookie: a=b' }, { [name]: EVIL })),
    ]) {
      for (const [header, value] of answer.headers) {
        expect(NAMES).toContain(header);
        expect(value).not.toMatch(/set-cookie|script/);
      }
      expect(answer.headers.get('content-type')).toMatch(/^(application\/(a2a\+)?json|text\/event-stream)$/);
    }
  });

  it('nor a Host, which is refused unless it names this machine', async () => {
    const answer = await get(`${BASE}/.well-known/agent-card.json`, {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    });
    expect(answer.status).toBe(421);
    expect(answer.text).not.toContain('evil');
  });
});

it('no request line ends the server', async () => {
  await attackRequestLines(server.port);
  await server.mustAnswer();
  expect(server.alive).toBe(true);
});
