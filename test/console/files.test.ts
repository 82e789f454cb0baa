import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { forger } from './hostile-files.js';
import type { ChatPage } from './pages/chat-page.js';
import { consoleWorld, expectText } from './world.js';

const world = consoleWorld({ showsPdf: true });

/** A conversation with an agent whose files call a server, and the calls that the server gets. */
async function startForger() {
  const calls: string[] = [];
  const server = createServer(({ url = '' }, answer) => {
    calls.push(url);
    answer.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const opened = await world({ agents: { '/files': forger(`http://127.0.0.1:${port}`) } });
  const chat = await opened.talk('/files');
  await chat.say('Your files');
  await expectText(chat.text, 'Completed');
  return { ...opened, chat, calls };
}

/** Opens a document of the last answer. */
async function openedTab(chat: ChatPage, name: string): Promise<Page> {
  const opening = chat.page.waitForEvent('popup');
  await chat.file(name).getByRole('button', { name: 'Open in a new tab' }).click();
  return opening;
}

/** The title of the document that the viewer of the browser has read. */
async function titleIn(tab: Page): Promise<string> {
  const viewer = tab.frames().find((frame) => frame.url().startsWith('chrome-extension:'));
  return (await viewer?.locator('#title').innerText()) ?? '';
}

it('a PDF opens in a tab of its own, in a conversation and in the artifacts of a task', async () => {
  const { page, chat, calls, problems } = await startForger();
  const tab = await openedTab(chat, 'report.pdf');
  await expect.poll(() => titleIn(tab)).toBe('Report');
  expect(await tab.evaluate('opener')).toBeNull();
  await tab.close();
  await chat.openTask();
  const artifact = page.locator('.file', { hasText: 'report.pdf' });
  const again = page.waitForEvent('popup');
  await artifact.getByRole('button', { name: 'Open in a new tab' }).click();
  await expect.poll(async () => titleIn(await again)).toBe('Report');
  expect(calls).toEqual([]);
  expect(problems).toEqual([]);
});

it('scripts and links of a PDF reach neither the page nor another server', async () => {
  const { page, chat, calls, problems } = await startForger();
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => dialogs.push(dialog.message()));
  const calling = await openedTab(chat, 'calls.pdf');
  // The script runs in the viewer. A message of its own shows that it did.
  const said = await calling.waitForEvent('dialog');
  expect(said.message()).toBe('owned');
  await said.dismiss();
  await expect.poll(() => titleIn(calling)).toBe('Report');
  await openedTab(chat, 'endless.pdf');
  await chat.field.fill('Still here');
  expect(await chat.field.inputValue()).toBe('Still here');
  // A link that the user follows leaves the tab of the document only.
  const linked = await openedTab(chat, 'report.pdf');
  await expect.poll(() => titleIn(linked)).toBe('Report');
  // The page is in the middle of the part that the list of pages leaves.
  await expect
    .poll(async () => {
      await linked.mouse.click(790, 190);
      return calls;
    })
    .toContain('/link');
  expect(calls.filter((path) => !['/link', '/favicon.ico'].includes(path))).toEqual([]);
  expect(await page.title()).toContain('Forger');
  expect([dialogs, problems]).toEqual([[], []]);
});

it('a file whose type is wrong is not shown, and nothing of it runs', async () => {
  const { page, chat, calls } = await startForger();
  for (const name of ['page.pdf', 'named.pdf']) {
    await chat.file(name).getByRole('button', { name: 'Download' }).waitFor();
    expect(await chat.file(name).getByRole('button').count()).toBe(1);
  }
  for (const name of ['page.png', 'drawing.png', 'page.mp3']) {
    await chat.file(name).getByRole('button', { name: 'Show' }).click();
    await expectText(() => chat.file(name).innerText(), 'The browser cannot show this file');
  }
  expect(await page.title()).toContain('Forger');
  expect(calls).toEqual([]);
});
