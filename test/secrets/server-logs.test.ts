import { afterAll, beforeAll, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { redactor } from '../../packages/parley/src/exports/credentials.js';
import { createA2AServer, textLogger } from '../../packages/parley/src/exports/index.js';
import { leakIn, plantSecret } from '../../packages/parley/test/planted-secrets.js';
import { LocalServer } from '../push-receiver/receiver-world.js';

// A server whose callers, webhooks and mistakes are full of secrets, with the most talkative log.
const TOKEN = plantSecret('bearer');
const lines: string[] = [];
const server = createA2AServer({
  agent: { execute: (_, events) => events.complete('Done') },
  authenticator: new BearerTokens([{ token: TOKEN, subject: 'ada' }]),
  logger: textLogger({ level: 'debug', now: Date.now, write: (line) => lines.push(line) }),
  push: { allow: ['127.0.0.1'], attempts: 1 },
  logRequests: true,
});
let url: string;
let hook: LocalServer;
let called: () => void;
const wasCalled = new Promise<void>((resolve) => {
  called = resolve;
});

beforeAll(async () => {
  ({ url } = await server.listen(0));
  hook = await LocalServer.open((_, response) => {
    response.writeHead(400, { 'x-echo': plantSecret('answer') }).end(plantSecret('answer'));
    called();
  });
});
afterAll(async () => {
  await server.close({ graceMs: 0 });
  await hook[Symbol.asyncDispose]();
});

const post = (body: string, headers: Record<string, string> = {}, query = '') =>
  fetch(`${url}/a2a/jsonrpc${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${TOKEN}`, ...headers },
    body,
  }).then((answer) => answer.text());
const call = (method: string, params: object) => post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

it('a server logs no secret of a caller, a webhook or a mistake', async () => {
  const authentication = { scheme: 'Bearer', credentials: plantSecret('credentials') };
  const webhook = {
    id: 'hook',
    url: `${hook.url}/?key=${plantSecret('url')}`,
    token: plantSecret('token'),
    authentication,
  };
  const sent = await call('SendMessage', { message, configuration: { taskPushNotificationConfig: webhook } });
  const taskId = (JSON.parse(sent) as { result: { task: { id: string } } }).result.task.id;
  const config = { ...webhook, taskId, id: 'other' };
  await call('CreateTaskPushNotificationConfig', {
    ...config,
    url: `https://ann:${plantSecret('user')}@host.example/`,
  });
  await call('CreateTaskPushNotificationConfig', { ...config, token: `${plantSecret('token')}\r\nx: y` });
  await call('CreateTaskPushNotificationConfig', {
    ...config,
    url: `http://10.0.0.1/${plantSecret('path')}?token=${plantSecret('q')}`,
  });
  const read = await call('GetTaskPushNotificationConfig', { taskId, id: 'hook' });
  const list = await call('ListTaskPushNotificationConfigs', { taskId });
  for (const text of [read, list]) {
    expect(text).toContain('"id":"hook"');
    expect(leakIn(text.replaceAll(webhook.url, ''))).toBeUndefined();
  }
  await post('{', { authorization: `Bearer ${plantSecret('wrong')}` });
  await post('{', { authorization: `Basic ${btoa(`ann:${plantSecret('basic')}`)}` });
  await post('{', { cookie: `session=${plantSecret('cookie')}`, 'x-api-key': plantSecret('key') });
  await post('{}', {}, `?access_token=${plantSecret('query')}&api_key=${encodeURIComponent(plantSecret('query'))}`);
  await post(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"token":"${plantSecret('params')}"`);
  await wasCalled;
  while (!lines.join('').includes('parked')) await new Promise((resolve) => setImmediate(resolve));
  expect(lines.length).toBeGreaterThan(10);
  expect(leakIn(lines.join(''))).toBeUndefined();
});

it('the redactor removes a known secret in every encoding', () => {
  const secret = plantSecret('known');
  const shown = redactor([secret]);
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify({ a: secret }),
    JSON.stringify(JSON.stringify({ a: secret })),
    btoa(secret),
    btoa(`a${secret}`),
    btoa(`ab${secret}`),
    Buffer.from(`~~?${secret}`).toString('base64url'),
    `Bearer ${secret}`,
    `https://ann:${secret}@host/?a=${secret}`,
  ];
  for (const form of forms) expect([form, leakIn(shown(`before ${form} after`))]).toEqual([form, undefined]);
});
