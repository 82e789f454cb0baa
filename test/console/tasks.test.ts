import { trace } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { exportJWK, generateKeyPair } from 'jose';
import { createA2AServer } from 'parley-a2a/node';
import { serverTracing } from 'parley-a2a-otel';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { STORY } from './agents.js';
import { TaskPage } from './pages/task-page.js';
import { TasksPage } from './pages/tasks-page.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();

it('an empty table says what to do', async () => {
  const { page, open } = await world();
  await open('#/agent/%2Fstory/tasks');
  const tasks = new TasksPage(page);
  await expectText(tasks.text, 'No tasks yet');
  await page.getByRole('link', { name: 'Send a message' }).click();
  await page.getByRole('textbox', { name: 'Message to Storyteller' }).waitFor();
});

it('search of a task: states, filters, part of an id, and a whole id', async () => {
  const { page, talk } = await world();
  const chat = await talk('/story');
  await chat.say('Note: one');
  await expectText(chat.text, 'Noted: one');
  await chat.say('A story');
  await expectText(chat.text, 'Working');
  const tasks = new TasksPage(page);
  await tasks.open();
  await expect.poll(tasks.states).toEqual(['Working', 'Completed']);
  await tasks.filter('Completed');
  await expect.poll(tasks.states).toEqual(['Completed']);
  await tasks.filter('Rejected');
  await expectText(tasks.text, 'No task fits');
  await tasks.filter('All');
  await expect.poll(tasks.states).toHaveLength(2);
  const [running = '', noted = ''] = await tasks.ids();
  await tasks.search(noted.slice(-6));
  await expect.poll(tasks.ids).toEqual([noted]);
  await tasks.find('not-a-task');
  await page.getByRole('alert').waitFor();
  await tasks.find(running);
  await expectText(new TaskPage(page).text, 'Looking for a story');
});

it('the table is live: a task that ends changes in it', async () => {
  const { page, steps, talk } = await world();
  const chat = await talk('/story');
  await chat.say('A story');
  await expectText(chat.text, 'Working');
  const tasks = new TasksPage(page);
  await tasks.open();
  await expect.poll(tasks.states).toEqual(['Working']);
  steps.allow(STORY.length);
  await expect.poll(tasks.states).toEqual(['Completed']);
});

it('tokens of the models are on the page of a task', async () => {
  const { talk, page } = await world();
  const chat = await talk('/paint');
  await chat.say('red');
  await expectText(chat.text, 'The fence is red.');
  await chat.openTask();
  await expectText(new TaskPage(page).text, 'Tokens 1,200 in (1,000 cached), 30 out');
});

it('the trace of a task is on its page, as a link into the tracing tool', async () => {
  trace.setGlobalTracerProvider(new TracerProvider());
  onTestFinished(() => trace.disable());
  const console = { traceUrl: 'https://jaeger.example/trace/{traceId}' };
  const { talk, page } = await world({ tracing: serverTracing(), console });
  const chat = await talk('/paint');
  await chat.say('red');
  await expectText(chat.text, 'The fence is red.');
  await chat.openTask();
  const link = page.getByRole('link', { name: /^[\da-f]{32}$/ });
  const id = await link.innerText();
  expect(await link.getAttribute('href')).toBe(`https://jaeger.example/trace/${id}`);
});

it('cancel: a running task ends on its page', async () => {
  const { page, steps, talk } = await world();
  const chat = await talk('/story');
  await chat.say('A story');
  steps.allow(1);
  await expectText(chat.text, 'Once there was');
  await chat.openTask();
  const task = new TaskPage(page);
  await expectText(task.text, 'Live');
  await task.cancel();
  await expectText(task.text, 'Canceled');
  await expectText(task.text, 'Ended');
  expect(await page.getByRole('button', { name: 'Cancel the task' }).count()).toBe(0);
});

it('drop and resume on the page of a task: the timeline has no gap', async () => {
  const { page, steps, talk } = await world();
  const chat = await talk('/story');
  await chat.say('A story');
  steps.allow(2);
  await expectText(chat.text, 'who counted ships');
  await chat.openTask();
  const task = new TaskPage(page);
  await expect.poll(task.numbers).toEqual([1, 2, 3, 4]);
  await task.dropConnection();
  steps.allow(STORY.length);
  await expectText(task.text, 'Completed');
  await expectText(task.text, 'Resumed once');
  await expectText(task.text, 'No gap');
  await expect.poll(task.numbers).toEqual(Array.from({ length: STORY.length + 3 }, (_, at) => at + 1));
});

it('the page of a task has events with details, artifacts, history, calls and the record', async () => {
  const { page, url, steps, talk } = await world();
  const chat = await talk('/story');
  steps.allow(STORY.length);
  await chat.say('A story');
  await expectText(chat.text, 'Completed');
  await chat.openTask();
  const task = new TaskPage(page);
  await task.events.nth(1).click();
  await expectText(() => page.getByRole('region', { name: 'Chosen event' }).innerText(), 'TASK_STATE_WORKING');
  const id = decodeURIComponent(page.url().split('/').at(-1) ?? '');
  expect(await task.snippet('curl').innerText()).toBe(`curl ${url}/story/tasks/${id} \\\n  -H 'A2A-Version: 1.0'`);
  expect(await task.snippet('Command line').innerText()).toBe(`parley task get ${id} -a ${url}/story`);
  expect(await task.snippet('TypeScript').innerText()).toContain(`client.getTask("${id}")`);
  await page.getByRole('heading', { name: 'Record' }).scrollIntoViewIfNeeded();
  await page.getByText('Show JSON').click();
  await expectText(() => page.getByRole('region', { name: 'Record of the task' }).innerText(), `"id": "${id}"`);
  await expectText(() => page.locator('.history').innerText(), 'A story');
});

it('a card: skills with examples to send, interfaces, extensions and the raw card', async () => {
  const { page, url, steps, open } = await world();
  await open('#/agent/%2Fstory/card');
  await page.getByRole('heading', { name: 'Storyteller 2.1.0' }).waitFor();
  const text = () => page.getByRole('main').innerText();
  expect(await text()).toContain(`${url}/story`);
  expect(await text()).toContain('urn:parley-a2a:extension:stream-resume:v1');
  expect(await text()).toContain('The card asks for no credential.');
  await page.getByText('Show JSON').click();
  await expectText(() => page.getByRole('region', { name: 'JSON of the card' }).innerText(), '"name": "Storyteller"');
  steps.allow(STORY.length);
  await page.getByRole('button', { name: 'Note: buy oil' }).click();
  await expectText(text, 'Noted: buy oil');
});

it('a task that waits takes its answer on its page', async () => {
  const { page, talk } = await world();
  const chat = await talk('/paint');
  await chat.say('Paint my fence');
  await expectText(chat.text, 'Needs your answer');
  await page.getByRole('link', { name: 'Task and timeline' }).click();
  const task = new TaskPage(page);
  await task.answer('green');
  await expectText(task.text, 'The fence is green.');
  await expectText(task.text, 'Completed');
  expect(await task.text()).toContain('No gap');
});

it('a call of a tool is approved on the page of its task', async () => {
  const { page, talk } = await world();
  const chat = await talk('/pay');
  await chat.say('Pay the bill');
  await expectText(chat.text, 'wants to call pay');
  await page.getByRole('link', { name: 'Task and timeline' }).click();
  const task = new TaskPage(page);
  await task.decide('Approve');
  await expectText(task.text, 'Completed');
  await expect.poll(() => page.getByRole('region', { name: 'Your answer' }).count()).toBe(0);
});

it("a card of the server is verified by its published keys, and a stranger's signature is not", async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kty: 'EC', kid: 'card-2026', alg: 'ES256' };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const cardSigning = { keys: [key] };
  const server = createA2AServer({
    agent: (text: string) => text,
    url,
    cardSigning,
    console: true,
    logRequests: false,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  await server.listen(port);
  const { page } = await world();
  await page.goto(`${url}/#/agent/%2F/card`);
  await page.getByText('Signature verified (card-2026, ES256) by a key of this server').waitFor();
  await page.route('**/.well-known/jwks.json', (route) =>
    route.fulfill({ json: { keys: [{ ...key, d: undefined, kid: 'other' }] } }),
  );
  await page.reload();
  await page.getByText('No signature is valid').waitFor();
});
