import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { ChatPage } from './pages/chat-page.js';
import { ServerProcess } from './server-process.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();

it('approve: the arguments are shown, and the call runs only after the click', async () => {
  const { page, talk, problems } = await world();
  const chat = await talk('/pay');
  await chat.say('Pay the bill');
  await expectText(chat.text, 'The agent wants to call pay');
  expect(await page.getByRole('region', { name: 'Arguments of pay' }).innerText()).toContain('"euros": 50');
  await chat.decide('Approve');
  await expectText(chat.text, 'Paid 50 euros');
  await expectText(chat.text, 'Completed');
  // The buttons are gone: a decision counts once.
  expect(await chat.log.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  const calls = chat.replies.last().getByRole('list', { name: 'Calls of tools' });
  await calls.getByText('pay').click();
  await expectText(() => calls.innerText(), 'succeeded');
  await expectText(() => calls.innerText(), '"Paid 50 euros"');
  expect(problems).toEqual([]);
});

it('refuse: the call does not run', async () => {
  const { talk } = await world();
  const chat = await talk('/pay');
  await chat.say('Pay the bill');
  await expectText(chat.text, 'The agent wants to call pay');
  await chat.decide('Refuse');
  await expectText(chat.text, 'refused');
  expect(await chat.text()).not.toContain('Paid 50');
});

it('approve after the server was killed and started again', async () => {
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
  await expectText(chat.text, 'The agent wants to call pay');
  await server.kill();
  await server.start();
  await chat.decide('Approve');
  await expectText(chat.text, 'Paid 50 euros');
  await expectText(chat.text, 'Completed');
});

it('a form: its fields come from the schema, and the tool gets typed values', async () => {
  const { page, talk, problems } = await world();
  const chat = await talk('/rooms');
  await chat.say('Oslo');
  const form = page.getByRole('form', { name: 'Which room in Oslo?' });
  await form.getByLabel('Nights').fill('99');
  await form.getByLabel('Bed').selectOption('double');
  await form.getByRole('button', { name: 'Send the answer' }).click();
  // The browser itself refuses a number outside of the limits.
  expect(await form.locator('input:invalid').count()).toBe(1);
  await form.getByLabel('Nights').fill('3');
  await form.getByLabel('Breakfast').check();
  await form.getByRole('button', { name: 'Send the answer' }).click();
  await expectText(chat.text, 'Booked {"nights":3,"bed":"double","breakfast":true}');
  expect(problems).toEqual([]);
});

it('a form that the user declines', async () => {
  const { page, talk } = await world();
  const chat = await talk('/rooms');
  await chat.say('Oslo');
  await page.getByRole('form', { name: 'Which room in Oslo?' }).getByRole('button', { name: 'Decline' }).click();
  await expectText(chat.text, 'Booked no room');
});

it('reasoning and calls of tools are folded, and open on a click', async () => {
  const { page, talk } = await world();
  const chat = await talk('/rooms');
  await chat.say('Oslo');
  await page.getByRole('form', { name: 'Which room in Oslo?' }).waitFor();
  const reply = chat.replies.last();
  await reply.getByText('look_up').click();
  await expectText(() => reply.getByRole('region', { name: 'Arguments of look_up' }).innerText(), '"city": "Oslo"');
  await expectText(() => reply.getByRole('region', { name: 'Result of look_up' }).innerText(), '"rooms": 3');
  expect(await reply.locator('.reasoning strong').innerText()).toBe('quiet');
});

it('an authorization: a link opens the provider, and the conversation goes on by itself', async () => {
  const { page, talk } = await world();
  const chat = await talk('/calendar');
  await chat.say('Plan my day');
  await expectText(chat.text, 'Please let me read your calendar');
  await expectText(chat.text, 'calendar.read');
  const opened = page.waitForEvent('popup');
  await chat.log.getByRole('link', { name: 'Open the authorization' }).click();
  const provider = await opened;
  await expectText(chat.text, 'The code has 17 characters');
  await expectText(chat.text, 'Completed');
  expect(await provider.evaluate('window.opener')).toBeNull();
});
