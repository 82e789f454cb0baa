import { ApiKeys } from 'parley-a2a/auth';
import { expect, it } from 'vitest';
import { ChatPage } from './pages/chat-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { WirePage } from './pages/wire-page.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld();
const KEY = 'key-of-ada-0123456789';

it('the wire panel shows each request and its answer, with times', async () => {
  const { page, talk, problems } = await world();
  const chat = await talk('/story');
  await chat.say('Note: buy oil');
  await expectText(chat.text, 'Noted: buy oil');
  const wire = new WirePage(page);
  await wire.open();
  const call = wire.calls.filter({ hasText: 'SendStreamingMessage' });
  expect(await call.innerText()).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} POST .* 200 answered after \d+ ms, ended after \d+ ms$/,
  );
  await call.locator('summary').click();
  await expectText(() => call.getByRole('region', { name: 'Request' }).innerText(), '"text": "Note: buy oil"');
  await expectText(() => call.getByRole('region', { name: 'Answer' }).innerText(), 'TASK_STATE_COMPLETED');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expectText(wire.text, 'No calls yet');
  expect(problems).toEqual([]);
});

it.each(['header', 'query'] as const)('a key in the %s is not in the panel', async (location) => {
  const keys = new ApiKeys([{ key: KEY, subject: 'ada' }], { place: { location, name: 'x-of-ada' } });
  const { page, open } = await world({ authenticator: keys });
  await open('#/agent/%2Fstory/chat');
  await new SignInPage(page).withKey(KEY);
  const chat = new ChatPage(page);
  await chat.say('Note: buy oil');
  await expectText(chat.text, 'Noted: buy oil');
  const wire = new WirePage(page);
  await wire.open();
  await wire.calls.first().waitFor();
  for (const summary of await wire.calls.locator('summary').all()) await summary.click();
  await expectText(wire.text, '[redacted]');
  expect(await wire.text()).not.toContain(KEY);
});
