import { describe, expect, it } from 'vitest';
import type { Authenticator } from '../../packages/parley/src/auth/authenticator.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AuditLog, AuditRecord } from '../../packages/parley/src/telemetry/audit-log.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';

const SECRET = 'planted-secret-4711';
const ORIGIN = 'http://127.0.0.1';
const authenticator: Authenticator = {
  challenges: ['Bearer'],
  authenticate: (credentials) => {
    const key = credentials.header('x-key');
    if (key === undefined) return { kind: 'anonymous' };
    if (key === `${SECRET}-ada`) return { kind: 'user', user: { id: 'test|ada', tenants: ['north'] } };
    if (key === `${SECRET}-bob`) return { kind: 'refused', reason: 'scope', missingScopes: ['write'] };
    return { kind: 'refused', reason: 'unknown' };
  },
};

function serveAudited(write: AuditLog['write'], required = false) {
  const logger = new CapturingLogger();
  let runs = 0;
  const server = createA2AServer({
    agent: (prompt) => {
      runs += 1;
      return `${SECRET} ${prompt}`;
    },
    url: ORIGIN,
    id: 'stories',
    authenticator,
    audit: { write, required },
    logger,
  });
  const rpc = (method: string, params: object, headers: Record<string, string> = {}) =>
    server.fetch(
      new Request(`${ORIGIN}/a2a/jsonrpc?token=${SECRET}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    );
  return { server, rpc, logger, runs: () => runs };
}

const ada = { 'x-key': `${SECRET}-ada` };
const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: SECRET }] };

describe('the audit log of a server (Spec §13.4)', () => {
  it('has a record of each call and each refusal, without contents and credentials', async () => {
    const records: AuditRecord[] = [];
    const { server, rpc } = serveAudited((record) => void records.push(record));
    const sent = await rpc('SendMessage', { message, tenant: 'north' }, { ...ada, 'x-request-id': 'of-the-caller' });
    const { task } = ((await sent.json()) as { result: { task: { id: string; contextId: string } } }).result;
    await rpc('GetTask', { id: 'missing' }, ada);
    await rpc('GetTask', { id: task.id }, { 'x-key': SECRET });
    await rpc('GetTask', { id: task.id }, { 'x-key': `${SECRET}-bob` });
    await rpc('GetTask', { id: task.id });
    await rpc('NoSuchMethod', {}, ada);
    await (await rpc('SendStreamingMessage', { message: { ...message, messageId: 'm2' } }, ada)).text();
    await server.fetch(new Request(`${ORIGIN}/a2a/rest/tasks/${task.id}?key=${SECRET}`, { headers: ada }));
    expect(records.map(({ outcome, code, status }) => [outcome, code, status])).toEqual([
      ['done', 'OK', 200],
      ['refused', 'TASK_NOT_FOUND', 200],
      ['refused', 'UNAUTHENTICATED', 401],
      ['refused', 'PERMISSION_DENIED', 403],
      ['refused', 'UNAUTHENTICATED', 401],
      ['refused', 'METHOD_NOT_FOUND', 200],
      ['done', 'OK', 200],
      ['refused', 'TASK_NOT_FOUND', 404],
    ]);
    expect(records[0]).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      time: expect.stringMatching(/Z$/),
      outcome: 'done',
      code: 'OK',
      status: 200,
      principal: { kind: 'user', id: 'test|ada' },
      agent: 'stories',
      tenant: 'north',
      operation: 'sendMessage',
      taskId: task.id,
      contextId: task.contextId,
      binding: 'JSONRPC',
      version: '1.0',
      method: 'POST',
      path: '/a2a/jsonrpc',
      requestId: 'of-the-caller',
      callerRequestId: 'of-the-caller',
    });
    expect(records[2]?.principal).toEqual({ kind: 'anonymous' });
    expect(records[6]).toMatchObject({ operation: 'sendStreamingMessage', taskId: expect.any(String) });
    expect(records[7]).toMatchObject({ operation: 'getTask', taskId: task.id, binding: 'HTTP+JSON' });
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    expect(JSON.stringify(records)).not.toContain(SECRET);
    await server.close();
  });

  it('has the address of the client, also behind a trusted proxy, and requests beyond a rate', async () => {
    const records: AuditRecord[] = [];
    const server = createA2AServer({
      agent: () => 'ok',
      trustProxy: ['loopback'],
      rateLimit: { perAddress: { requests: 1, windowMs: 3_600_000 } },
      audit: { write: (record) => void records.push(record) },
      logger: new CapturingLogger(),
    });
    const { url } = await server.listen(0);
    const list = async (headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}/a2a/rest/tasks`, { headers: { 'a2a-version': '1.0', ...headers } });
      await answer.text();
    };
    await list();
    // The first address is a claim of the client. The proxy of this machine has seen the second one.
    for (let call = 0; call < 2; call += 1) await list({ 'x-forwarded-for': '203.0.113.9, 192.0.2.1' });
    await list({ forwarded: 'for="[2001:db8::17]:4711"' });
    expect(records.map(({ outcome, code, status, address }) => [outcome, code, status, address])).toEqual([
      ['done', 'OK', 200, '127.0.0.1'],
      ['done', 'OK', 200, '192.0.2.1'],
      ['refused', 'RESOURCE_EXHAUSTED', 429, '192.0.2.1'],
      ['done', 'OK', 200, '2001:db8::17'],
    ]);
    expect(records[2]).toMatchObject({ principal: { kind: 'anonymous' }, method: 'GET', path: '/a2a/rest/tasks' });
    await server.close();
  });

  it('believes no forwarded address without a trusted proxy', async () => {
    const records: AuditRecord[] = [];
    const write = (record: AuditRecord) => void records.push(record);
    const server = createA2AServer({ agent: () => 'ok', audit: { write }, logger: new CapturingLogger() });
    const { url } = await server.listen(0);
    const headers = { 'a2a-version': '1.0', 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' };
    await (await fetch(`${url}/a2a/rest/tasks`, { headers })).text();
    expect(records.map(({ address }) => address)).toEqual(['127.0.0.1']);
    await server.close();
  });

  it('leaves cards and probes out', async () => {
    const records: AuditRecord[] = [];
    const { server } = serveAudited((record) => void records.push(record));
    for (const path of ['/.well-known/agent-card.json', '/healthz', '/readyz']) {
      expect((await server.fetch(new Request(`${ORIGIN}${path}`))).status).toBe(200);
    }
    expect(records).toEqual([]);
    await server.close();
  });

  it('does not stop calls if it fails, and the log says so once', async () => {
    const { server, rpc, logger } = serveAudited(() => Promise.reject(new Error('disk full')));
    for (let call = 0; call < 3; call += 1) expect((await rpc('ListTasks', {}, ada)).status).toBe(200);
    const lines = logger.lines.filter(({ message: text }) => text.includes('audit log'));
    expect(lines.map(({ level }) => level)).toEqual(['error']);
    await server.close();
  });

  it('lets no call pass unrecorded if it is required', async () => {
    let broken = false;
    const records: AuditRecord[] = [];
    const write = async (record: AuditRecord) => {
      if (broken) throw new Error('disk full');
      records.push(record);
    };
    const { server, rpc, runs } = serveAudited(write, true);
    expect((await rpc('SendMessage', { message }, ada)).status).toBe(200);
    broken = true;
    const refused = await rpc('ListTasks', {}, ada);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const stream = await rpc('SendStreamingMessage', { message: { ...message, messageId: 'm2' } }, ada);
    expect(stream.status).toBe(503);
    expect(runs()).toBe(1);
    broken = false;
    expect((await rpc('ListTasks', {}, ada)).status).toBe(200);
    expect(records.map(({ outcome }) => outcome)).toEqual(['done', 'failed', 'done']);
    await server.close();
  });
});
