import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ApiKeys, anyOf, BearerTokens } from 'parley-a2a/auth';
import { operatorApi } from 'parley-a2a/operator';
import type { AuditRecord, Authenticator } from 'parley-a2a/server';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { STORY } from './agents.js';
import type { ChatPage } from './pages/chat-page.js';
import { OperatorPage } from './pages/operator-page.js';
import { consoleWorld, expectText, filledInbox, type World } from './world.js';

const world = consoleWorld();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = fileURLToPath(new URL('../../.cache/console-screenshots/', import.meta.url));
const THEMES = ['light', 'dark'] as const;
const WIDTHS = [360, 1280, 2560];
const isLong = process.env.TEST_LONG !== undefined;

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** The rules for accessibility that a page breaks. */
async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResult>("axe.run({ resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** True if the rules are checked. Colours depend on the theme, and places on the width. */
const isChecked = (theme: string, width: number) =>
  theme === 'light' ? width === 360 || (isLong && width === 1280) : width === 1280;

/** True if a picture is kept: in the short form one of each page. */
const isPictured = (theme: string, width: number) => isLong || (theme === 'light' && width === 1280);

/** Checks the current page in both themes and at all widths, and keeps pictures of it. */
async function look({ page }: World, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : width === 1280 ? 800 : 1300 });
    for (const theme of THEMES) {
      if (!isChecked(theme, width) && !isPictured(theme, width)) continue;
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      if (isPictured(theme, width)) await page.screenshot({ path: `${folder}${name}-${theme}-${width}.png` });
      if (!isChecked(theme, width)) continue;
      expect({ name, theme, width, violations: await violationsOf(page) }).toMatchObject({ violations: [] });
    }
    expect([name, width, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
      name,
      width,
      true,
    ]);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function sayAndWait(chat: ChatPage, text: string): Promise<void> {
  await chat.say(text);
  await expectText(chat.text, 'Completed');
}

it('the rules for accessibility find a page that breaks them', async () => {
  const { page } = await world();
  await page.setContent('<html lang="en"><title>T</title><main><h1>T</h1><button></button></main></html>');
  expect(await violationsOf(page)).toEqual([expect.stringContaining('button-name')]);
});

it('the list of agents and a card', async () => {
  const opened = await world();
  const { page, open } = opened;
  await open();
  await page.getByRole('heading', { name: 'Storyteller' }).waitFor();
  await look(opened, 'agents');
  await open('#/agent/%2Fstory/card');
  await page.getByRole('heading', { name: 'Skills' }).waitFor();
  await page.getByText('Show JSON').click();
  await look(opened, 'card');
});

it('the list of agents with one that cannot be read', async () => {
  const opened = await world();
  const { page, open } = opened;
  await page.route('**/paint/.well-known/agent-card.json', (route) => route.fulfill({ status: 503 }));
  await open();
  await page.getByText('Agents without a readable card').waitFor();
  await look(opened, 'agents-failed');
});

it('a conversation: empty, in a stream, with a question, and with files', async () => {
  const opened = await world();
  const { page, steps, talk } = opened;
  const chat = await talk('/story');
  await page.getByRole('button', { name: 'Note: buy oil' }).waitFor();
  await look(opened, 'conversation-empty');
  await sayAndWait(chat, 'Note: buy oil');
  await chat.say('Tell me about the lighthouse');
  steps.allow(STORY.length - 1);
  await expectText(chat.text, 'const lamp');
  await look(opened, 'conversation-stream');
  const painting = await talk('/paint');
  await painting.say('Paint my fence');
  await expectText(painting.text, 'Needs your answer');
  await look(opened, 'conversation-question');
  const files = await talk('/files');
  await sayAndWait(files, 'All papers');
  await files.replies.last().getByText('Data', { exact: true }).click();
  await look(opened, 'conversation-files');
});

it('what waits for the user: an approval, a form, an authorization, and all of them', async () => {
  const opened = await world();
  const { page, open, talk } = opened;
  await open('#/waiting');
  await page.getByText('Nothing waits for you').waitFor();
  await look(opened, 'waiting-empty');
  const paying = await talk('/pay');
  await paying.say('Pay the bill');
  await expectText(paying.text, 'wants to call pay');
  await look(opened, 'conversation-approval');
  const booking = await talk('/rooms');
  await booking.attach([{ name: 'passport.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF') }]);
  await page.getByRole('list', { name: 'Attached files' }).waitFor();
  await look(opened, 'conversation-attached');
  await booking.say('Oslo');
  await page.getByRole('form', { name: 'Which room in Oslo?' }).waitFor();
  await look(opened, 'conversation-form');
  const planning = await talk('/calendar');
  await planning.say('Plan my day');
  await expectText(planning.text, 'calendar.read');
  await look(opened, 'conversation-authorization');
  await open('#/waiting');
  await expect.poll(() => page.getByRole('list', { name: 'Waiting tasks' }).getByRole('article').count()).toBe(3);
  await look(opened, 'waiting');
});

it('the page of operators: the form for a token, tasks and replicas', async () => {
  const token = 'token-of-a-launch-0123456789-0123456789';
  const records: AuditRecord[] = [];
  const audit = {
    write: (record: AuditRecord) => void records.unshift(record),
    read: async () => ({ records: records.slice(0, 10), unreadable: 0 }),
  };
  const opened = await world({ operator: operatorApi({ token }), audit });
  const { page, open, talk } = opened;
  await open('#/operator');
  const operator = new OperatorPage(page);
  await expectText(operator.text, 'Only operators see this');
  await look(opened, 'operator-token');
  const painting = await talk('/paint');
  await painting.say('Paint my fence');
  await expectText(painting.text, 'Needs your answer');
  await operator.open();
  await operator.giveToken(token);
  await expect.poll(operator.tasks).toHaveLength(1);
  await expect.poll(async () => (await operator.records()).length).toBeGreaterThan(0);
  await look(opened, 'operator');
});

it('the wire, and two bindings side by side', async () => {
  const opened = await world();
  const { page, open, talk } = opened;
  const chat = await talk('/story');
  await sayAndWait(chat, 'Note: buy oil');
  await page.getByRole('link', { name: 'Wire' }).click();
  await page.getByRole('list', { name: 'Calls' }).locator('summary').first().click();
  await look(opened, 'wire');
  await open('#/agent/%2Fstory/compare');
  await page.getByLabel('Message').fill('Note: buy oil');
  await page.getByRole('button', { name: 'Send to both' }).click();
  await page.getByText('Both answers are the same').waitFor();
  await look(opened, 'compare');
});

it('the push inbox: empty, and with notifications', async () => {
  const opened = await world({ push: { allow: ['127.0.0.1'] } });
  const { page, open } = opened;
  await open('#/agent/%2Fstory/inbox');
  await page.getByText('No inbox yet').waitFor();
  await look(opened, 'inbox-empty');
  await filledInbox(opened);
  await look(opened, 'inbox');
});

it('tasks: the empty table, the table and a task', async () => {
  const opened = await world();
  const { page, steps, open, talk } = opened;
  await open('#/agent/%2Fstory/tasks');
  await page.getByText('No tasks yet').waitFor();
  await look(opened, 'tasks-empty');
  const chat = await talk('/story');
  await sayAndWait(chat, 'Note: buy oil');
  steps.allow(STORY.length);
  await sayAndWait(chat, 'Tell me about the lighthouse');
  await chat.say('Another story');
  await expectText(chat.text, 'Working');
  await open('#/agent/%2Fstory/tasks');
  await expect.poll(() => page.getByRole('table').locator('tbody tr').count()).toBe(3);
  await look(opened, 'tasks');
  await page.getByRole('table').getByRole('link').nth(1).click();
  await expectText(() => page.getByRole('main').innerText(), 'No gap');
  await page.getByRole('region', { name: 'Events' }).getByRole('button').nth(1).click();
  await look(opened, 'task');
});

it('a hostile agent breaks no page', async () => {
  const opened = await world();
  const { page, open, talk } = opened;
  const chat = await talk('/hostile');
  await sayAndWait(chat, 'Hello');
  await look(opened, 'hostile-conversation');
  await open('#/agent/%2Fhostile/card');
  await page.getByRole('heading', { name: 'Skills' }).waitFor();
  await look(opened, 'hostile-card');
});

it('the forms for credentials', async () => {
  const keys = new ApiKeys([{ key: 'key-of-ada-0123456789', subject: 'ada' }]);
  const opened = await world({ authenticator: anyOf(keys, new BearerTokens([], { schemeName: 'token' })) });
  await opened.open('#/agent/%2Fstory/chat');
  await opened.page.getByRole('heading', { name: 'Sign in to Storyteller' }).waitFor();
  await look(opened, 'sign-in');
});

it('the forms for OAuth: by a page, and with a code', async () => {
  const keys = new ApiKeys([{ key: 'key-of-ada-0123456789', subject: 'ada' }]);
  const endpoint = (name: string) => `https://login.example/${name}`;
  const flow = { tokenUrl: endpoint('token'), scopes: { read: 'Read' } };
  const securitySchemes = {
    page: {
      oauth2SecurityScheme: { flows: { authorizationCode: { ...flow, authorizationUrl: endpoint('auth') } } },
    },
    code: {
      oauth2SecurityScheme: { flows: { deviceCode: { ...flow, deviceAuthorizationUrl: endpoint('device') } } },
    },
  };
  const securityRequirements = Object.keys(securitySchemes).map((name) => ({ schemes: { [name]: { list: [] } } }));
  const authenticator: Authenticator = {
    challenges: keys.challenges,
    securitySchemes,
    securityRequirements,
    authenticate: (credentials) => keys.authenticate(credentials),
  };
  const opened = await world({ authenticator });
  await opened.open('#/agent/%2Fstory/chat');
  await opened.page.getByRole('heading', { name: 'Sign in with a code' }).waitFor();
  await opened.page.getByRole('heading', { name: 'Sign in by a page' }).waitFor();
  await look(opened, 'sign-in-oauth');
});

it('the navigation on a small screen', async () => {
  const opened = await world();
  const { page, open } = opened;
  await page.setViewportSize({ width: 360, height: 740 });
  await open('#/agent/%2Fstory/card');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.screenshot({ path: `${folder}menu-light-360.png` });
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  expect(await page.getByRole('link', { name: 'New conversation' }).isVisible()).toBe(false);
});

it('the theme that the user chooses is kept', async () => {
  const { page, open } = await world();
  await open('#/agent/%2Fstory/card');
  const colour = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
  const dark = await colour();
  await page.reload();
  await page.getByRole('combobox', { name: 'Theme' }).waitFor();
  expect(await colour()).toBe(dark);
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('light');
  expect(await colour()).not.toBe(dark);
});

it('a keyboard is enough: choose an agent, send a message, open its task and an event', async () => {
  const { page, open } = await world();
  await open();
  await page.getByRole('link', { name: 'Storyteller' }).waitFor();
  const readFocus = () =>
    page.evaluate<string>("document.activeElement?.matches('a, button') ? document.activeElement.textContent : ''");
  const tabTo = async (text: string): Promise<void> => {
    for (let tries = 0; tries < 60; tries++) {
      await page.keyboard.press('Tab');
      if ((await readFocus()).trim().startsWith(text)) return;
    }
    throw new Error(`Tab does not reach "${text}"`);
  };
  await page.keyboard.press('Tab');
  await tabTo('Storyteller');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Message to Storyteller' }).waitFor();
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('Note: buy oil');
  await page.keyboard.press('Enter');
  await expectText(() => page.getByRole('log').innerText(), 'Completed');
  await tabTo('Task and timeline');
  await page.keyboard.press('Enter');
  await expectText(() => page.getByRole('main').innerText(), 'No gap');
  await tabTo('1');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Chosen event' }).waitFor();
});
