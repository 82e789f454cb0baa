import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { painter } from './agents.js';
import { ChatPage } from './pages/chat-page.js';
import { TasksPage } from './pages/tasks-page.js';
import { ServerProcess } from './server-process.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();

it('the server is killed and started again while the page is open: the page says so, and goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const server = new ServerProcess(join(folder, 'tasks.db'), await freePort());
  onTestFinished(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });
  await server.start();
  const { page } = await world();
  await page.goto(`${server.url}/#/agent/%2F/chat`);
  const chat = new ChatPage(page);
  await chat.say('Pay the bill');
  await expectText(chat.text, 'Needs your answer');
  const tasks = new TasksPage(page);
  await tasks.open();
  await expect.poll(tasks.states).toEqual(['Needs your answer']);
  await server.kill();
  await expectText(tasks.text, 'The tasks could not be read');
  // The last rows stay.
  expect(await tasks.states()).toEqual(['Needs your answer']);
  await server.start();
  await expect.poll(tasks.text, { timeout: 30_000 }).not.toContain('The tasks could not be read');
  await page.getByRole('navigation').getByRole('link', { name: 'Pay the bill', exact: true }).click();
  await chat.decide('Approve');
  await expectText(chat.text, 'Paid 50 euros');
});

it('an old agent that speaks 0.3 only: conversation, question and answer', async () => {
  const { talk, page, problems } = await world({ agents: { '/old': { ...painter, versions: ['0.3'] } } });
  const chat = await talk('/old');
  await chat.say('Paint my fence');
  await expectText(chat.text, 'Needs your answer');
  await chat.say('green');
  await expectText(chat.text, 'The fence is green.');
  await expectText(chat.text, 'Completed');
  await chat.openTask();
  await expectText(() => page.getByRole('main').innerText(), 'The fence is green.');
  expect(problems).toEqual([]);
});

it('a page of another origin can neither read the console nor call an agent', async () => {
  const { page, url } = await world();
  const other = createServer((_request, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end('<!doctype html><title>Other</title>');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await page.goto(`http://localhost:${port}/`);
  const outcome = (expression: string) =>
    page.evaluate<string>(`(${expression}).then((answer) => 'read ' + answer.status, (error) => error.name)`);
  for (const path of ['/console', '/console/agents.json', '/paint/.well-known/agent-card.json', '/paint/tasks'])
    expect([path, await outcome(`fetch('${url}${path}')`)]).toEqual([path, 'TypeError']);
  const message = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: 'm', parts: [] } } };
  const body = JSON.stringify(JSON.stringify(message));
  for (const type of ['application/json', 'text/plain']) {
    const call = `fetch('${url}/paint', { method: 'POST', headers: { 'content-type': '${type}' }, body: ${body} })`;
    expect([type, await outcome(call)]).toEqual([type, 'TypeError']);
  }
  // Without a preflight the call arrives, and is refused.
  const blind = `fetch('${url}/paint', { method: 'POST', mode: 'no-cors', body: ${body} })`;
  await outcome(blind);
  await page.goto(`${url}/#/agent/%2Fpaint/tasks`);
  await expectText(() => page.getByRole('main').innerText(), 'No tasks yet');
});

it('a card that cannot be read: the page shows the other agents, and the reason', async () => {
  const { page, open } = await world();
  await page.route('**/paint/.well-known/agent-card.json', (route) => route.fulfill({ status: 503 }));
  await open();
  const main = page.getByRole('main');
  await page.getByRole('heading', { name: 'Storyteller' }).waitFor();
  await expectText(() => main.getByRole('alert').innerText(), '/paint: ');
  await open('#/agent/%2Fpaint/chat');
  await expectText(() => main.innerText(), 'Agents without a readable card');
  await page.unroute('**/paint/.well-known/agent-card.json');
  await main.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('textbox', { name: 'Message to Painter' }).waitFor();
});
