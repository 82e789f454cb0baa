import { ApiKeys, anyOf, BasicUsers, BearerTokens, hashPassword } from 'parley-a2a/auth';
import { expect, it } from 'vitest';
import { ChatPage } from './pages/chat-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { TasksPage } from './pages/tasks-page.js';
import { consoleWorld, expectText } from './world.js';

const KEYS = { ada: 'key-of-ada-0123456789', bob: 'key-of-bob-0123456789' };
const TOKEN = 'token-of-cleo-0123456789';
const PASSWORD = 'grüße from dora';
const authenticator = anyOf(
  new ApiKeys([
    { key: KEYS.ada, subject: 'ada' },
    { key: KEYS.bob, subject: 'bob' },
  ]),
  new BearerTokens([{ token: TOKEN, subject: 'cleo' }], { schemeName: 'token' }),
  new BasicUsers([{ subject: 'dora', passwordHash: await hashPassword(PASSWORD) }]),
);
const opened = consoleWorld();
const world = () => opened({ authenticator });
const PLACE = '#/agent/%2Fstory/chat';

it('sign in with a key: the card names the ways, and nothing of a task is asked for before', async () => {
  const { page, open } = await world();
  const called: string[] = [];
  page.on('request', (request) => {
    if (/tasks|message|\/story$/.test(request.url())) called.push(request.url());
  });
  await open(PLACE);
  const form = new SignInPage(page);
  await expectText(form.text, 'Sign in to Storyteller');
  for (const way of ['API key', 'Bearer token', 'User and password']) expect(await form.text()).toContain(way);
  expect(called).toEqual([]);
  await form.withKey(KEYS.ada);
  const chat = new ChatPage(page);
  await chat.say('Note: of ada');
  await expectText(chat.text, 'Noted: of ada');
});

it('a wrong key is refused in words, and a right one follows', async () => {
  const { page, open } = await world();
  await open('#/agent/%2Fstory/tasks');
  const form = new SignInPage(page);
  await form.withKey('key-of-nobody-0123456789');
  await expectText(form.text, 'The agent refused the credential');
  await form.withKey(KEYS.ada);
  await expectText(new TasksPage(page).text, 'No tasks yet');
});

it.each([
  ['a token', (form: SignInPage) => form.withToken(TOKEN)],
  ['a user and a password', (form: SignInPage) => form.withPassword('dora', PASSWORD)],
])('sign in with %s', async (_name, signIn) => {
  const { page, open } = await world();
  await open(PLACE);
  await signIn(new SignInPage(page));
  const chat = new ChatPage(page);
  await chat.say('Note: hello');
  await expectText(chat.text, 'Noted: hello');
});

it('tasks of two users stay apart, and no credential outlives the tab', async () => {
  const { page, open } = await world();
  await open(PLACE);
  const form = new SignInPage(page);
  await form.withKey(KEYS.ada);
  const chat = new ChatPage(page);
  await chat.say('Note: of ada');
  await expectText(chat.text, 'Noted: of ada');
  await form.signOut();
  await expectText(form.text, 'Sign in to Storyteller');
  // The conversation of the other user is not there any more.
  expect(await chat.titles()).toEqual([]);
  await form.withKey(KEYS.bob);
  const tasks = new TasksPage(page);
  await tasks.open();
  await expectText(tasks.text, 'No tasks yet');
  const kept = await page.evaluate<string>('JSON.stringify(localStorage)');
  expect(kept).not.toContain(KEYS.bob);
  expect(kept).not.toContain('of ada');
});
