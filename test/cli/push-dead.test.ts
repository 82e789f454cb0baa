import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createA2AServer, silentLogger } from '../../packages/parley/src/exports/index.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { LocalServer } from '../push-receiver/receiver-world.js';
import { parley, parleyJson } from './parley.js';

const files = new SqliteFiles();
const path = files.fresh();
const database = `sqlite:${path}`;
let hook: LocalServer;
let status = 410;
const bodies: string[] = [];
const auditFile = join(files.folder, 'logs', 'audit.jsonl');
const records = () =>
  readFileSync(auditFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);

beforeAll(async () => {
  hook = await LocalServer.open(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (status < 300) bodies.push(body);
    response.writeHead(status).end();
  });
});
afterAll(async () => {
  await hook[Symbol.asyncDispose]();
  files.remove();
});

/** Runs a server on the database during a call of `work`. */
async function withServer(work: (server: ReturnType<typeof createA2AServer>, url: string) => Promise<void>) {
  const storage = await files.open(systemClock, { path });
  const agent = { execute: (_: unknown, events: { complete(text: string): Promise<void> }) => events.complete('Done') };
  const server = createA2AServer({ agent, storage, logger: silentLogger, push: { allow: ['127.0.0.1'] } } as never);
  const { url } = await server.listen(0);
  try {
    await work(server, url);
  } finally {
    await server.close({ graceMs: 0 });
    await storage.close();
  }
}

const send = (url: string, id: string) =>
  fetch(`${url}/a2a/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: {
        message: { messageId: id, role: 'ROLE_USER', parts: [{ text: 'hi' }] },
        configuration: { taskPushNotificationConfig: { id, url: `${hook.url}/hook`, token: 'pl4nted-s3cret-token' } },
      },
    }),
  }).then((answer) => answer.json() as Promise<{ readonly result: { readonly task: { readonly id: string } } }>);

const until = async (isTrue: () => Promise<boolean> | boolean) => {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
};

it('lists, replays and purges parked queues', async () => {
  const tasks: string[] = [];
  await withServer(async (server, url) => {
    for (const id of ['one', 'two', 'three']) tasks.push((await send(url, id)).result.task.id);
    await until(async () => (await server.deliveries.list({ standing: 'parked' })).queues.length === 3);
    const busy = await parley(['push', 'dead', 'list', '--database', database]);
    expect([busy.code, busy.stderr]).toEqual([2, expect.stringMatching(/USAGE: .*another server uses it/)]);
  });
  const on = ['--database', database];
  const { stdout } = await parley(['push', 'dead', 'list', ...on]);
  expect(stdout).toMatch(
    new RegExp(`^Task: ${tasks[0]}\\nWebhook: one\\nPending: \\d events\\nStatus: 410\\nReason: HTTP`),
  );
  expect(stdout).toMatch(/\nTotal: 3\n$/);
  expect(stdout).not.toMatch(/s3cret|hook\?/);
  const { queues } = await parleyJson<{ queues: { configId: string }[] }>(['push', 'dead', 'list', ...on]);
  expect(queues.map(({ configId }) => configId)).toEqual(['one', 'two', 'three']);
  expect(await parleyJson(['push', 'dead', 'purge', tasks[1] ?? '', 'other', ...on])).toEqual({ purged: 0 });
  const audited = [...on, '--audit-file', auditFile];
  expect(await parleyJson(['push', 'dead', 'purge', tasks[1] ?? '', ...audited])).toEqual({ purged: 1 });
  expect(await parleyJson(['push', 'dead', 'replay', ...audited])).toEqual({ replayed: 2 });
  const act = { outcome: 'done', code: 'OK', principal: { kind: 'operator' }, agent: '/' };
  expect(records()).toEqual(
    [
      { ...act, operation: 'purgeDelivery', taskId: tasks[1], configId: 'two' },
      { ...act, operation: 'replayDelivery', taskId: tasks[0], configId: 'one' },
      { ...act, operation: 'replayDelivery', taskId: tasks[2], configId: 'three' },
    ].map((one) => ({ ...one, id: expect.stringMatching(/^[\da-f-]{36}$/), time: expect.stringMatching(/Z$/) })),
  );
  expect((await parley(['push', 'dead', 'list', ...on])).stdout).toBe('Total: 0\n');
  status = 204;
  await withServer(async () => until(() => bodies.filter((body) => body.includes('COMPLETED')).length === 2));
  expect(bodies.join()).not.toContain(tasks[1]);
});

it('changes nothing if the audit file cannot be opened', async () => {
  const { code, stderr } = await parley([
    'push',
    'dead',
    'purge',
    '--database',
    database,
    '--audit-file',
    files.folder,
  ]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/the audit log cannot be opened \(EISDIR\)/)]);
});

it('creates no missing file', async () => {
  const { code, stderr } = await parley(['push', 'dead', 'list', '--database', `sqlite:${files.folder}/gone.db`]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/there is no such file\nhint: name another file with --database/),
  ]);
});
