import { describe, expect, it, vi } from 'vitest';
import type { Authenticator } from '../../packages/parley/src/auth/authenticator.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import type { AuditRecord } from '../../packages/parley/src/telemetry/audit-log.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';

const ORIGIN = 'https://agents.example';
const CALLBACK = `${ORIGIN}/books/authorizations`;
const SECRET = 'planted-code-4711';
const authenticator: Authenticator = {
  challenges: ['Bearer'],
  authenticate: (credentials) => {
    const name = credentials.header('x-user');
    return name === undefined ? { kind: 'anonymous' } : { kind: 'user', user: { id: `test|${name}` } };
  },
};

/** A server whose agent waits for an authorization, and the state of its task. */
async function startWaitingTask() {
  const got: Readonly<Record<string, string>>[] = [];
  const records: AuditRecord[] = [];
  const logger = new CapturingLogger();
  const executor: AgentExecutor = {
    async execute(context, events) {
      const { parameters } = await context.requestAuthorization({
        message: 'Please log in',
        url: ({ url, state }) => `${url}?state=${state}`,
      });
      got.push(parameters);
      await events.complete();
    },
  };
  const server = createA2AServer({
    agent: executor,
    path: '/books',
    url: ORIGIN,
    authenticator,
    audit: { write: (record) => void records.push(record) },
    logRequests: true,
    logger,
  });
  const ask = (url: string, init: RequestInit = {}) => server.fetch(new Request(url, init));
  const rest = async (path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-user': 'ada' };
    const method = body === undefined ? 'GET' : 'POST';
    return (
      await ask(`${ORIGIN}/books${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    ).json();
  };
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const { task } = (await rest('/message:send', { message })) as {
    task: { id: string; status: { message: { parts: { data?: { authorization: { url: string } } }[] } } };
  };
  const link = task.status.message.parts[1]?.data?.authorization.url ?? '';
  expect(link.startsWith(`${CALLBACK}?state=`)).toBe(true);
  const state = new URL(link).searchParams.get('state') ?? '';
  const stateOfTask = async () =>
    ((await rest(`/tasks/${task.id}`)) as { status: { state: string } }).status.state.replace('TASK_STATE_', '');
  return { server, ask, task, state, got, records, logger, stateOfTask };
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the callback for authorizations (Spec §7.6)', () => {
  it.each<[string, (state: string) => [string, RequestInit?]]>([
    ['the query of a redirect', (state) => [`${CALLBACK}?state=${state}&code=${SECRET}&iss=i`]],
    ['a form', (state) => [CALLBACK, { method: 'POST', headers: form, body: `state=${state}&code=${SECRET}&iss=i` }]],
    [
      'JSON',
      (state) => [CALLBACK, { method: 'POST', headers: json, body: JSON.stringify({ state, code: SECRET, iss: 'i' }) }],
    ],
  ])('takes %s without a credential of the caller', async (_name, made) => {
    const { server, ask, task, state, got, records, logger, stateOfTask } = await startWaitingTask();
    const answer = await ask(...made(state));
    expect([answer.status, await answer.text()]).toEqual([200, 'The answer has arrived. You can close this page.\n']);
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    await vi.waitFor(async () => expect(await stateOfTask()).toBe('COMPLETED'), 15_000);
    expect(got).toEqual([{ code: SECRET, iss: 'i' }]);
    expect((await ask(...made(state))).status).toBe(404);
    expect(records.filter(({ binding }) => binding === 'CALLBACK')).toMatchObject([
      { outcome: 'done', taskId: task.id, path: '/books/authorizations', principal: { kind: 'anonymous' } },
      { outcome: 'refused', code: 'TASK_NOT_FOUND' },
    ]);
    const told = JSON.stringify([records, logger.lines]);
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain(state);
    await server.close();
  });

  it('takes a refusal', async () => {
    const { server, ask, state, stateOfTask } = await startWaitingTask();
    expect((await ask(`${CALLBACK}?state=${state}&error=access_denied&error_description=no`)).status).toBe(200);
    await vi.waitFor(async () => expect(await stateOfTask()).toBe('FAILED'), 15_000);
    await server.close();
  });

  it.each([
    ['another callback', 'code=other', 'COMPLETED'],
    ['a refusal', 'error=access_denied', 'FAILED'],
  ])('takes one of a callback and %s that come at the same moment', async (_name, rival, end) => {
    const { server, ask, state, got, stateOfTask } = await startWaitingTask();
    const replies = [rival, `code=${SECRET}`, rival, `code=${SECRET}`];
    const answers = await Promise.all(replies.map((reply) => ask(`${CALLBACK}?state=${state}&${reply}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 404, 404, 404]);
    for (const answer of answers.filter(({ status }) => status === 404)) {
      expect(await answer.text()).toBe('This link is unknown, has expired, or was used before.\n');
    }
    const won = replies[statuses.indexOf(200)] ?? '';
    await vi.waitFor(async () => expect(await stateOfTask()).toBe(won === rival ? end : 'COMPLETED'), 15_000);
    expect(got).toEqual(won.startsWith('code=') ? [{ code: won.slice('code='.length) }] : []);
    await server.close();
  });

  it.each<[number, string, (state: string) => [string, RequestInit?]]>([
    [404, 'an unknown state', () => [`${CALLBACK}?state=${'0'.repeat(64)}&code=1`]],
    [400, 'no state', () => [`${CALLBACK}?code=1`]],
    [400, 'no credential', (state) => [`${CALLBACK}?state=${state}`]],
    [400, 'an empty code', (state) => [`${CALLBACK}?state=${state}&code=`]],
    [400, 'an empty code with an issuer', (state) => [`${CALLBACK}?state=${state}&code=&iss=i`]],
    [
      400,
      'an empty code in a form',
      (state) => [CALLBACK, { method: 'POST', headers: form, body: `state=${state}&code` }],
    ],
    [400, 'an empty code in JSON', (state) => [CALLBACK, postOf({ state, code: '' })]],
    [400, 'parameters without a value', (state) => [`${CALLBACK}?state=${state}&token=&iss=`]],
    [400, 'an empty state', () => [`${CALLBACK}?state=&code=1`]],
    [400, 'an empty error', (state) => [`${CALLBACK}?state=${state}&error=`]],
    [400, 'an empty error with a code', (state) => [`${CALLBACK}?state=${state}&error=&code=1`]],
    [400, 'a description without an error', (state) => [`${CALLBACK}?state=${state}&error_description=no`]],
    [400, 'an error that came twice', (state) => [`${CALLBACK}?state=${state}&error=a&error=b`]],
    [
      400,
      'a member of JSON that came twice',
      (state) => [CALLBACK, { method: 'POST', headers: json, body: `{"state":"${state}","code":"1","code":"2"}` }],
    ],
    [400, 'a parameter that came twice', (state) => [`${CALLBACK}?state=${state}&code=1&code=2`]],
    [400, 'two states', (state) => [`${CALLBACK}?state=0&state=${state}&code=1`]],
    [400, 'a credential that is no string', (state) => [CALLBACK, postOf({ state, code: 1 })]],
    [400, 'a list', () => [CALLBACK, postOf([])]],
    [400, 'JSON that is none', () => [CALLBACK, { method: 'POST', headers: json, body: '{' }]],
    [
      415,
      'a compressed body',
      (state) => [CALLBACK, { ...postOf({ state, code: '1' }), headers: { ...json, 'content-encoding': 'gzip' } }],
    ],
    [413, 'a large body', (state) => [CALLBACK, postOf({ state, code: 'x'.repeat(70_000) })]],
    [405, 'another method', (state) => [`${CALLBACK}?state=${state}&code=1`, { method: 'PUT' }]],
    [405, 'a look at the head', (state) => [`${CALLBACK}?state=${state}&code=1`, { method: 'HEAD' }]],
    [404, 'the callback of no agent', (state) => [`${ORIGIN}/a2a/authorizations?state=${state}&code=1`]],
  ])('answers %i to %s, and the link still works', async (status, _name, made) => {
    const { server, ask, state, got, stateOfTask } = await startWaitingTask();
    const [url, init] = made(state);
    const answer = await ask(url, { ...init, headers: { 'x-user': 'ada', ...init?.headers } });
    expect(answer.status).toBe(status);
    expect(await stateOfTask()).toBe('AUTH_REQUIRED');
    expect((await ask(`${CALLBACK}?state=${state}&code=${SECRET}`)).status).toBe(200);
    await vi.waitFor(async () => expect(await stateOfTask()).toBe('COMPLETED'), 15_000);
    expect(got).toEqual([{ code: SECRET }]);
    await server.close();
  });
});

function postOf(body: object): RequestInit {
  return { method: 'POST', headers: json, body: JSON.stringify(body) };
}
