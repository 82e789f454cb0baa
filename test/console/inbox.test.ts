import { exportJWK, generateKeyPair } from 'jose';
import { ApiKeys } from 'parley-a2a/auth';
import { expect, it } from 'vitest';
import { RunningParley } from '../cli/parley.js';
import { launchChromium } from '../support/chromium.mjs';
import { STORY } from './agents.js';
import { startPushingAgent } from './foreign-agents.js';
import { ChatPage } from './pages/chat-page.js';
import { InboxPage } from './pages/inbox-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { Steps } from './steps.js';
import { consoleWorld, expectText, type World } from './world.js';

const world = consoleWorld();
const ISSUER = 'https://agent.example';
const ALLOW = ['127.0.0.1'];

interface OpenedInbox {
  readonly url: string;
  readonly token: string;
  readonly key: string;
}

interface ReadInbox {
  readonly count: number;
  readonly deliveries: readonly { readonly body: { readonly text: string } }[];
}

async function createSigning() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { issuer: ISSUER, keys: [{ ...(await exportJWK(privateKey)), kty: 'EC', kid: 'key-2026', alg: 'ES256' }] };
}

/** Opens the page of a story that has begun. */
async function runningTask({ page, steps, talk }: World): Promise<InboxPage> {
  const chat = await talk('/story');
  await chat.say('A story');
  steps.allow(1);
  await expectText(chat.text, 'Once there was');
  await page.getByRole('link', { name: 'Task and timeline' }).click();
  return new InboxPage(page);
}

it('shows signed notifications as they arrive, the attempts of one, and goes on after a reload', async () => {
  const opened = await world({ push: { allow: ALLOW, signature: await createSigning(), firstDelayMs: 50 } });
  const { page, steps, foreign } = opened;
  const inbox = await runningTask(opened);
  await inbox.openFromTask();
  await inbox.refuseNext();
  steps.allow(1);
  await expect.poll(inbox.lines, { timeout: 20_000 }).toHaveLength(2);
  const [second, first] = await inbox.lines();
  expect(first).toMatch(/attempt 1, signature verified, answered 500/);
  expect(second).toMatch(/attempt 2, signature verified, answered 204/);
  await inbox.deliveries.first().locator('summary').click();
  const shown = await inbox.text();
  expect(shown).toContain(`Signed by key-2026 of ${ISSUER}`);
  expect(shown).toMatch(/x-a2a-notification-token: \[redacted\]/);
  const token = await page.evaluate<string>('JSON.parse(sessionStorage["parley-console:inbox:/story"]).token');
  expect(shown).not.toContain(token);
  await page.reload();
  steps.allow(STORY.length);
  await expect.poll(inbox.lines, { timeout: 20_000 }).toContainEqual(expect.stringContaining('Completed'));
  expect((await inbox.lines()).filter((line) => line.includes('attempt 1')).length).toBeGreaterThan(2);
  expect(foreign).toEqual([]);
});

it('an agent whose guard refuses the inbox: the page names the option that allows it', async () => {
  const opened = await world({ push: true });
  const inbox = await runningTask(opened);
  await inbox.register();
  await expectText(inbox.text, '127.0.0.1 is no allowed address');
  expect(await inbox.text()).toContain(`A2A_PUSH_ALLOW=${new URL(opened.url).host}`);
});

it('an empty inbox says what to do, and an agent without push has no button', async () => {
  const { page, open } = await world({ push: false });
  await open('#/agent/%2Fstory/inbox');
  await expectText(new InboxPage(page).text, 'The card of this agent does not offer them');
});

it('an agent that pushes nothing: the page tells the possible reasons', async () => {
  const opened = await world({ push: { allow: ALLOW } });
  await opened.page.clock.install();
  const inbox = await runningTask(opened);
  await inbox.openFromTask();
  await expectText(inbox.text, 'sends with the next event');
  await opened.page.clock.fastForward(11_000);
  await expectText(inbox.text, 'may be on another machine');
});

it('the next user of a tab does not see the inbox of the one before', async () => {
  const apiKeys = new ApiKeys([{ key: 'key-of-ada-0123456789', subject: 'ada' }]);
  const opened = await world({ push: { allow: ALLOW }, authenticator: apiKeys });
  await opened.open('#/agent/%2Fstory/chat');
  const form = new SignInPage(opened.page);
  await form.withKey('key-of-ada-0123456789');
  const inbox = await runningTask(opened);
  await inbox.openFromTask();
  await opened.page.getByRole('button', { name: 'Sign out' }).click();
  expect(await opened.page.evaluate<string>('JSON.stringify(sessionStorage)')).not.toContain('inbox');
});

it('takes notifications of another agent through parley console', async () => {
  const steps = new Steps();
  await using agent = await startPushingAgent(steps, { allow: ALLOW, signature: await createSigning() });
  await using command = new RunningParley(['console', agent.url]);
  const url = await command.waitForStdout(/^Console: (.*)$/m);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    const chat = new ChatPage(page);
    await chat.say('A story');
    steps.allow(1);
    await expectText(chat.text, 'Once there was');
    await page.getByRole('link', { name: 'Task and timeline' }).click();
    const inbox = new InboxPage(page);
    await inbox.openFromTask();
    steps.allow(STORY.length);
    await expect.poll(inbox.lines, { timeout: 20_000 }).toContainEqual(expect.stringContaining('Completed'));
    for (const line of await inbox.lines()) expect(line).toContain('attempt 1, signature verified, answered 204');
  } finally {
    await browser.close();
  }
});

it('only a page of the server opens and reads inboxes, and only an agent with the token is taken', async () => {
  const { url } = await world({ push: true });
  const post = (path: string, value: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, ...headers },
      body: JSON.stringify(value),
    });
  const open = async () => (await (await post('/console/inbox', { open: '/story' })).json()) as OpenedInbox;
  const refused = { open: '/story' };
  expect((await post('/console/inbox', refused, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post('/console/inbox', refused, { 'content-type': 'text/plain' })).status).toBe(403);
  expect((await post('/console/inbox', refused, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(404);
  expect((await post('/console/inbox', refused, { origin: '' })).status).toBe(403);
  expect((await post('/console/inbox', { key: 'a-guess', after: 1 })).status).toBe(404);
  const first = await open();
  const { pathname } = new URL(first.url);
  const status = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
  const notify = (token: string, id: string, value: unknown = { statusUpdate: status }) =>
    post(pathname, value, { 'x-a2a-notification-token': token, 'x-a2a-notification-id': id });
  expect((await notify('another', 't/c/1')).status).toBe(401);
  expect((await notify(first.token, 't/c/2')).status).toBe(204);
  expect((await notify(first.token, 't/c/2')).status).toBe(204);
  expect((await notify(first.token, 't/c/1')).status).toBe(204);
  expect((await notify(first.token, 't/c/3', { text: 'x'.repeat(5_000_000) })).status).toBe(413);
  const read = await post('/console/inbox', { key: first.key, after: 0 });
  const { count, deliveries } = (await read.json()) as ReadInbox;
  expect(count).toBe(5);
  expect(deliveries).toMatchObject([
    { status: 413, body: { length: expect.any(Number) } },
    { status: 204, attempt: 2, isLate: true, isDuplicate: false },
    { status: 204, attempt: 2, isDuplicate: true },
    { status: 204, attempt: 1, isDuplicate: false, isLate: false, signature: 'absent' },
    { status: 401, reason: expect.stringContaining('Token') },
  ]);
  expect(deliveries[0]?.body.text.length).toBeLessThanOrEqual(20_000);
  for (let at = 0; at < 16; at++) await open();
  // The inbox that was read least recently was evicted. Its agent gets a permanent refusal.
  expect((await notify(first.token, 't/c/4')).status).toBe(410);
  expect((await post('/console/inbox', { key: first.key, after: 0 })).status).toBe(404);
});
