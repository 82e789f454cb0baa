import { ApiKeys } from 'parley-a2a/auth';
import { expect, it } from 'vitest';
import { WaitingPage } from './pages/waiting-page.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();

it('questions, approvals and authorizations of all agents are on one page, and are answered there', async () => {
  const { page, open, talk, problems } = await world();
  await open('#/waiting');
  const waiting = new WaitingPage(page);
  await expectText(waiting.text, 'Nothing waits for you');
  for (const [path, text, asked] of [
    ['/paint', 'Paint my fence', 'Needs your answer'],
    ['/pay', 'Pay the bill', 'wants to call pay'],
    ['/calendar', 'Plan my day', 'calendar.read'],
  ] as const) {
    const chat = await talk(path);
    await chat.say(text);
    await expectText(chat.text, asked);
  }
  await waiting.open();
  await expect.poll(() => waiting.tasks.count()).toBe(3);
  await waiting.of('Cashier').getByRole('button', { name: 'Approve' }).click();
  await expect.poll(() => waiting.tasks.count()).toBe(2);
  await waiting.of('Painter').getByRole('textbox', { name: 'Your answer' }).fill('green');
  await waiting.of('Painter').getByRole('button', { name: 'Answer' }).click();
  await expect.poll(() => waiting.tasks.count()).toBe(1);
  await waiting.of('Secretary').getByRole('link', { name: 'Open the authorization' }).click();
  await page.bringToFront();
  await expectText(waiting.text, 'Nothing waits for you');
  await open('#/agent/%2Fpay/tasks');
  await expectText(() => page.getByRole('table').innerText(), 'Completed');
  expect(problems).toEqual([]);
});

it('the page tells which agents need a sign-in, and asks them for nothing', async () => {
  const authenticator = new ApiKeys([{ key: 'key-of-ada-0123456789', subject: 'ada' }]);
  const { page, open, problems } = await world({ authenticator });
  await open('#/waiting');
  await expectText(new WaitingPage(page).text, 'Not asked before you sign in');
  expect(problems).toEqual([]);
});
