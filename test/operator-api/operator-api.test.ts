import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TaskState } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { apiKey } from 'parley-a2a/credentials';
import {
  type A2AHost,
  type A2AHostOptions,
  type AuditRecord,
  createA2AHost,
  OptionsError,
  openAuditFile,
} from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { ExampleServer, temporaryFolder } from '../interop/example-server.js';
import { Receiver } from '../push/receiver.js';

const KEYS = { ada: 'key-of-ada-0123456789', bob: 'key-of-bob-0123456789', olga: 'key-of-olga-0123456789' };
const TOKEN = 'token-of-a-launch-0123456789-0123456789';
const authenticator = new ApiKeys([
  { key: KEYS.ada, subject: 'ada' },
  { key: KEYS.bob, subject: 'bob', permissions: ['writer'] },
  { key: KEYS.olga, subject: 'olga', permissions: ['operator'] },
]);
const hosts: A2AHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close({ graceMs: 100 });
});

async function serveHost(options: Partial<A2AHostOptions> = {}): Promise<{ host: A2AHost; url: string }> {
  const agents = { '/one': { agent: (prompt: string) => prompt }, '/two': { agent: (prompt: string) => prompt } };
  const host = createA2AHost({ agents, authenticator, operator: operatorApi(), logger: silentLogger, ...options });
  hosts.push(host);
  const { url } = await host.listen(0);
  return { host, url };
}

type Listed = Readonly<Record<string, string | number | null>>;

/** The members of all answers. */
interface Body {
  readonly error: { readonly status: string; readonly message: string };
  readonly tasks: readonly (Listed & { readonly id: string })[];
  readonly deliveries: readonly (Listed & { readonly agent: string })[];
  readonly next?: string;
  readonly counts: object;
  readonly records: readonly object[];
  readonly replicas: readonly object[];
  readonly problems: readonly string[];
}

/** An answer of the API as JSON, with its status. */
async function ask(url: string, path: string, init: RequestInit & { key?: string } = {}) {
  const { key = KEYS.olga, headers, ...rest } = init;
  const answer = await fetch(`${url}/operator/v1${path}`, { ...rest, headers: { 'x-api-key': key, ...headers } });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Body };
}

async function tasksOfTwoUsers(host: A2AHost): Promise<void> {
  const state = { working: 'TASK_STATE_WORKING', done: 'TASK_STATE_COMPLETED' } as const;
  const [ada, bob] = ['apikey|ada', 'apikey|bob'].map((owner) => ({ owner })) as [{ owner: string }, { owner: string }];
  for (const id of ['a1', 'a2', 'a3']) {
    await host.tasksOf('/one', ada).create({ id, status: { state: state.working } });
  }
  await host.tasksOf('/two', bob).create({ id: 'b1', status: { state: state.done } });
  await host.tasksOf('/two', { ...bob, tenant: 'acme' }).create({ id: 'b 2/?', status: { state: state.working } });
}

describe('the access to the operator API', () => {
  it.each([
    ['a user without permissions', KEYS.ada],
    ['a user with another permission', KEYS.bob],
  ])('is refused to %s', async (_, key) => {
    const { url } = await serveHost();
    for (const path of ['/status', '/counts', '/tasks', '/tasks/x?agent=/one', '/deliveries']) {
      const { status, body } = await ask(url, path, { key });
      expect([status, body.error.status]).toEqual([403, 'PERMISSION_DENIED']);
    }
    const replay = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, key };
    expect((await ask(url, '/replays', replay)).status).toBe(403);
  });

  it('has a token for this machine, in no way for a proxy, another host or another token', async () => {
    const { url } = await serveHost({ operator: operatorApi({ token: TOKEN }), authenticator: undefined as never });
    const status = (headers: Record<string, string>) =>
      fetch(`${url}/operator/v1/status`, { headers }).then((answer) => answer.status);
    expect(await status({ 'operator-token': TOKEN })).toBe(200);
    expect(await status({})).toBe(401);
    expect(await status({ 'operator-token': `${TOKEN}x` })).toBe(401);
    expect(await status({ 'operator-token': TOKEN, 'x-forwarded-for': '203.0.113.1' })).toBe(401);
    expect(await status({ 'operator-token': TOKEN, via: '1.1 proxy' })).toBe(401);
  });

  it('is never open: without authenticator and token the host does not start', () => {
    const agents = { '/': { agent: (prompt: string) => prompt } };
    expect(() => createA2AHost({ agents, operator: operatorApi() })).toThrow(OptionsError);
    expect(() => createA2AHost({ agents, operator: operatorApi() })).toThrow('it is never open');
  });

  it('is off by default', async () => {
    const { url } = await serveHost({ operator: undefined as never });
    expect((await ask(url, '/status')).status).toBe(404);
  });

  it('is not given to pages of other origins that CORS lets call agents', async () => {
    const { url } = await serveHost({ cors: ['https://page.example'] });
    const { headers } = await ask(url, '/tasks', { headers: { origin: 'https://page.example' } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cache-control')).toContain('no-store');
  });
});

describe('the operator API', () => {
  it('lists the tasks of all owners, page by page and by filters', async () => {
    const { host, url } = await serveHost();
    await tasksOfTwoUsers(host);
    const found: string[] = [];
    let cursor = '';
    do {
      const { body } = await ask(url, `/tasks?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      expect(body.tasks.length).toBeLessThanOrEqual(2);
      found.push(...body.tasks.map(({ id, owner }) => `${owner} ${id}`));
      cursor = body.next ?? '';
    } while (cursor !== '');
    expect(found.sort()).toEqual([
      'apikey|ada a1',
      'apikey|ada a2',
      'apikey|ada a3',
      'apikey|bob b 2/?',
      'apikey|bob b1',
    ]);
    const idsOf = async (query: string): Promise<string[]> =>
      (await ask(url, `/tasks?${query}`)).body.tasks.map(({ id }) => id).sort();
    expect(await idsOf('state=TASK_STATE_COMPLETED')).toEqual(['b1']);
    expect(await idsOf('state=TASK_STATE_COMPLETED&state=TASK_STATE_WORKING&agent=/two')).toEqual(['b 2/?', 'b1']);
    expect(await idsOf('owner=apikey|ada')).toEqual(['a1', 'a2', 'a3']);
    expect(await idsOf('olderThanMs=3600000')).toEqual([]);
    const [task] = (await ask(url, '/tasks?owner=apikey|ada&limit=1')).body.tasks;
    expect(task).toMatchObject({ agent: '/one', tenant: '', owner: 'apikey|ada', lease: 'none', lastRecord: 1 });
    expect(task?.ageMs).toBeGreaterThanOrEqual(0);
  });

  it('lists open tasks first, the longest silent one at the top, then finished ones, the last one at the top', async () => {
    const { host, url } = await serveHost();
    const status = async (id: string, owner: string, state: TaskState) => {
      await host.tasksOf('/two', { owner }).create({ id, status: { state } });
      // Times have milliseconds.
      await expect.poll(() => Date.now()).toBeGreaterThan(Date.now());
    };
    await status('done first', 'ada', 'TASK_STATE_COMPLETED');
    await status('silent', 'bob', 'TASK_STATE_WORKING');
    await status('done last', 'bob', 'TASK_STATE_FAILED');
    await status('asks', 'ada', 'TASK_STATE_INPUT_REQUIRED');
    const order = ['silent', 'asks', 'done last', 'done first'];
    for (const limit of [1, 2, 3, 100]) {
      const found: string[] = [];
      for (let path = `/tasks?limit=${limit}`; path !== ''; ) {
        const { body } = await ask(url, path);
        found.push(...body.tasks.map(({ id }) => id));
        path = body.next === undefined ? '' : `/tasks?limit=${limit}&cursor=${encodeURIComponent(body.next)}`;
      }
      expect(found).toEqual(order);
    }
    const found = await ask(url, '/tasks?state=TASK_STATE_FAILED&state=TASK_STATE_WORKING&agent=/two');
    expect(found.body.tasks.map(({ id }) => id)).toEqual(['silent', 'done last']);
    expect((await ask(url, '/tasks?agent=/one')).body).toEqual({ tasks: [] });
  });

  it('looks at 1,000 tasks for a page, and goes on behind them', async () => {
    const { host, url } = await serveHost();
    const [many, few] = [host.tasksOf('/one', { owner: 'ada' }), host.tasksOf('/one', { owner: 'bob' })];
    for (let at = 0; at < 1_100; at += 1) await many.create({ id: `t${at}`, status: { state: 'TASK_STATE_WORKING' } });
    await few.create({ id: 'last', status: { state: 'TASK_STATE_AUTH_REQUIRED' } });
    const query = '/tasks?state=TASK_STATE_AUTH_REQUIRED';
    const { body } = await ask(url, query);
    expect(body.tasks).toEqual([]);
    const { body: rest } = await ask(url, `${query}&cursor=${encodeURIComponent(body.next ?? '')}`);
    expect([rest.tasks.map(({ id }) => id), rest.next]).toEqual([['last'], undefined]);
  });

  it('finds an agent by its id and by its path', async () => {
    const agents = { '/one': { id: 'first', agent: (prompt: string) => prompt } };
    const { host, url } = await serveHost({ agents });
    await host.tasksOf('/one', { owner: 'ada' }).create({ id: 't1', status: { state: 'TASK_STATE_WORKING' } });
    for (const agent of ['first', '/one']) {
      expect((await ask(url, `/tasks?agent=${agent}`)).body.tasks).toMatchObject([{ agent: 'first', id: 't1' }]);
      expect((await ask(url, `/counts?agent=${agent}`)).body.counts).toEqual({ TASK_STATE_WORKING: 1 });
      expect((await ask(url, `/tasks/t1?agent=${agent}&owner=ada`)).status).toBe(200);
    }
  });

  it('deletes a task, but not one that runs', async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const agents = {
      '/one': {
        agent: async () => {
          started.resolve();
          await ended.promise;
          return 'done';
        },
      },
    };
    const records: AuditRecord[] = [];
    const { url } = await serveHost({ agents, audit: { write: (record) => void records.push(record) } });
    const client = await connect(`${url}/one`, { credentials: apiKey(KEYS.ada) });
    const answer = client.sendMessage({
      message: { parts: [{ text: 'hi' }] },
      configuration: { returnImmediately: true },
    });
    await started.promise;
    const [task] = (await ask(url, '/tasks')).body.tasks;
    expect(task).toMatchObject({ lease: 'held', state: expect.stringMatching(/SUBMITTED|WORKING/) });
    const path = `/tasks/${task?.id}?agent=/one&owner=apikey|ada`;
    const remove = (at: string, key = KEYS.olga) => ask(url, at, { method: 'DELETE', key });
    expect((await remove(path, KEYS.ada)).status).toBe(403);
    expect((await remove(path)).body.error.message).toContain('running');
    ended.resolve();
    await answer;
    await expect.poll(async () => (await remove(path)).status).toBe(200);
    expect((await remove(path)).status).toBe(404);
    expect((await ask(url, path)).status).toBe(404);
    const done = records.filter(({ method, outcome }) => method === 'DELETE' && outcome === 'done');
    expect(done).toMatchObject([{ principal: { id: 'apikey|olga' }, path: `/operator/v1/tasks/${task?.id}` }]);
    await client.close();
  });

  it('shows audit records, the last one first, by filters and page by page', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-operator-'));
    const audit = await openAuditFile({ path: join(folder, 'audit.jsonl') });
    try {
      const { url } = await serveHost({ audit });
      const client = await connect(`${url}/one`, { credentials: apiKey(KEYS.ada) });
      for (const text of ['a', 'b']) await client.sendMessage({ message: { parts: [{ text }] } });
      await expect(client.getTask({ id: 'none' })).rejects.toThrow();
      await client.close();
      const operations = async (query: string) => {
        const { body } = await ask(url, `/audit${query}`);
        return { found: body.records.map((record) => (record as AuditRecord).operation), next: body.next ?? '' };
      };
      await expect
        .poll(() => operations('?agent=/one'))
        .toMatchObject({
          found: ['getTask', 'sendMessage', 'sendMessage'],
        });
      const first = await operations('?agent=/one&limit=2');
      expect(first.found).toEqual(['getTask', 'sendMessage']);
      expect((await operations(`?agent=/one&cursor=${first.next}`)).found).toEqual(['sendMessage']);
      expect((await operations('?agent=/two')).found).toEqual([]);
      expect((await operations('?outcome=refused&taskId=none')).found).toEqual(['getTask']);
      const { body } = await ask(url, '/audit?operation=sendMessage&limit=1');
      expect(body).toMatchObject({ unreadable: 0, records: [{ outcome: 'done', principal: { id: 'apikey|ada' } }] });
      for (const query of ['?outcome=good', '?cursor=x', '?limit=101', '?path=/etc/passwd'])
        expect((await ask(url, `/audit${query}`)).status).toBe(400);
      expect((await ask(url, '/audit', { key: KEYS.ada })).status).toBe(403);
    } finally {
      await hosts.pop()?.close({ graceMs: 100 });
      await audit.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('tells where audit records would be if there is no file of them', async () => {
    for (const audit of [undefined, { write: () => {} }]) {
      const { url } = await serveHost({ ...(audit && { audit }) });
      const { status, body } = await ask(url, '/audit');
      expect([status, body.error.status]).toEqual([404, 'NOT_FOUND']);
      expect(body.error.message).toContain('A2A_AUDIT_FILE');
    }
  });

  it('counts them by state', async () => {
    const { host, url } = await serveHost();
    await tasksOfTwoUsers(host);
    const { body } = await ask(url, '/counts');
    expect(body).toEqual({ counts: { TASK_STATE_WORKING: 4, TASK_STATE_COMPLETED: 1 } });
    expect((await ask(url, '/counts?agent=/two')).body.counts).toEqual({
      TASK_STATE_WORKING: 1,
      TASK_STATE_COMPLETED: 1,
    });
  });

  it('shows one task with its records', async () => {
    const { host, url } = await serveHost();
    await tasksOfTwoUsers(host);
    const place = `/tasks/${encodeURIComponent('b 2/?')}?agent=/two&owner=apikey|bob`;
    const { body } = await ask(url, `${place}&tenant=acme`);
    expect(body).toMatchObject({
      task: { id: 'b 2/?', state: 'TASK_STATE_WORKING', statusMessage: null },
      records: [{ seq: 1, event: { task: { id: 'b 2/?' } } }],
      floor: 1,
      last: 1,
    });
    expect((await ask(url, `${place}&tenant=acme&after=1`)).body.records).toEqual([]);
    const missing = await ask(url, place);
    expect([missing.status, missing.body.error.status]).toEqual([404, 'NOT_FOUND']);
  });

  it('shows the process on its own storage, and the queue', async () => {
    const { url } = await serveHost();
    const { body } = await ask(url, '/status');
    expect(body).toMatchObject({ waiting: 0, parkedWebhooks: 0, runningTurns: 0, problems: [] });
    expect(body.replicas).toMatchObject([{ agents: ['/one', '/two'], isAlive: true }]);
  });

  it('refuses wrong parameters by their names', async () => {
    const { url } = await serveHost();
    for (const [path, field] of [
      ['/tasks?limit=101', 'limit'],
      ['/tasks?limit=-1', 'limit'],
      ['/tasks?state=working', 'state'],
      ['/tasks?cursor=x', 'cursor'],
      ['/tasks?owner=a&owner=b', 'owner'],
      ['/tasks?color=red', 'color'],
      ['/tasks/x', 'agent'],
      ['/tasks/%E0%A4?agent=/one', 'id'],
      ['/deliveries?standing=all', 'standing'],
      ['/status?x=1', 'x'],
    ] as const) {
      const { status, body } = await ask(url, path);
      expect([path, status, body.error.status]).toEqual([path, 400, 'INVALID_ARGUMENT']);
      expect(body.error.message).toContain(field);
    }
    expect((await ask(url, '/tasks', { method: 'DELETE' })).status).toBe(405);
  });

  it('lists parked webhooks of all owners and replays one, with a record for the audit', async () => {
    await using receiver = await Receiver.open((response) => response.writeHead(410).end());
    const records: AuditRecord[] = [];
    const { url } = await serveHost({
      push: { allow: ['127.0.0.0/8'] },
      audit: { write: (record) => void records.push(record) },
    });
    const client = await connect(`${url}/one`, { credentials: apiKey(KEYS.ada) });
    await client.sendMessage({
      message: { parts: [{ text: 'hi' }] },
      configuration: { taskPushNotificationConfig: { id: 'hook', url: receiver.url } },
    });
    const listParked = async () => (await ask(url, '/deliveries')).body.deliveries;
    await expect.poll(listParked).toHaveLength(1);
    const [listed] = await listParked();
    if (listed === undefined) throw new Error('No webhook is listed');
    const { agent, tenant, owner, taskId, configId, ...facts } = listed;
    expect([agent, tenant, owner, configId]).toEqual(['/one', '', 'apikey|ada', 'hook']);
    expect(facts).toMatchObject({ attempts: 1, lastStatus: 410, parked: expect.stringContaining('410') });
    expect((await ask(url, '/status')).body.problems).toEqual([expect.stringContaining('1 webhooks were given up')]);
    receiver.answering = (response) => response.writeHead(204).end();
    const replay = (queue: object, type = 'application/json') =>
      ask(url, '/replays', { method: 'POST', body: JSON.stringify(queue), headers: { 'content-type': type } });
    const queue = { agent, tenant, owner, taskId, configId };
    expect((await replay(queue, 'text/plain')).status).toBe(400);
    expect((await replay({ ...queue, owner: 'apikey|bob' })).status).toBe(404);
    expect((await replay({ ...queue, agent: '/none' })).status).toBe(404);
    expect((await replay({ ...queue, from: 99 })).status).toBe(400);
    expect(await replay(queue)).toMatchObject({ status: 200, body: { result: 'replayed' } });
    await receiver.has(({ length }) => length > 2);
    await expect.poll(listParked).toEqual([]);
    const acts = records.filter(({ operation }) => operation === 'replayDelivery');
    expect(acts.at(-1)).toMatchObject({ principal: { kind: 'operator' }, code: 'OK', taskId, configId });
    await client.close();
  });
});

describe('the example server', () => {
  it('has the operator API by A2A_OPERATOR, with a token in its log, and an audit file to read', async () => {
    const folder = await temporaryFolder();
    const env = { A2A_OPERATOR: 'true', A2A_AUDIT_FILE: join(folder, 'audit.jsonl') };
    try {
      await using server = await ExampleServer.start({ env, folder });
      const [, token = ''] = /the token of this launch for \S+ is ([\w-]{43})/.exec(server.output.join('')) ?? [];
      const read = async (path: string, given: string) => {
        const answer = await fetch(`${server.url}/operator/v1${path}`, { headers: { 'operator-token': given } });
        return { status: answer.status, body: (await answer.json()) as Body };
      };
      expect((await read('/status', 'x'.repeat(43))).status).toBe(401);
      const client = await connect(server.url);
      await client.sendMessage({ message: { parts: [{ text: 'hi' }] } });
      await client.close();
      expect((await read('/tasks', token)).body.tasks).toMatchObject([{ agent: 'compliance', owner: null }]);
      const records = async () => (await read('/audit?agent=compliance', token)).body.records;
      await expect.poll(records).toMatchObject([{ operation: 'sendMessage', outcome: 'done' }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
