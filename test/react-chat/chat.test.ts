import type { AddressInfo } from 'node:net';
import { connect } from 'parley-a2a';
import { type AgentOptions, createA2AServer } from 'parley-a2a/node';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { shop } from '../../examples/react-chat/src/agent.js';
import { chatServer } from '../../examples/react-chat/src/server.js';
import { archivist, hostile } from '../console/agents.js';
import { Steps } from '../console/steps.js';
import { launchChromium } from '../support/chromium.mjs';

let browser: Browser;
const closers: (() => unknown)[] = [];
beforeAll(async () => {
  browser = await launchChromium();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => browser.close());

type Agent = NonNullable<AgentOptions['agent']>;

/** A server of an agent, the example before it, and a browser at the example. */
async function openChat(agent: Agent | undefined, way: string) {
  if (agent === undefined) throw new Error('no agent');
  const server = createA2AServer({ name: 'Agent', agent, cors: '*', logRequests: false });
  closers.push(() => server.close({ graceMs: 100 }));
  const { url } = await server.listen(0);
  const pages = await chatServer(url, way === 'page' ? { url } : {});
  await new Promise<void>((listening) => pages.listen(0, '127.0.0.1', listening));
  closers.push(() => {
    pages.closeAllConnections();
    pages.close();
  });
  const page = await browser.newPage();
  closers.push(() => page.close());
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
  return { page, url, problems };
}

describe.each(['page', 'endpoint'])('a chat in React that calls its agent by the %s', (way) => {
  const open = (agent: Agent | undefined) => openChat(agent, way);

  it('streams the first answer, and goes on with it after a reload', async () => {
    const steps = new Steps();
    const { page, problems } = await open(async function* (prompt, { signal }) {
      for (const word of [prompt, ' two', ' three', ' four']) {
        yield word;
        await steps.next(signal);
      }
    });
    await say(page, 'one');
    steps.allow(1);
    await shows(page, 'one two');
    expect(await page.locator('output').innerText()).toBe('streaming');
    await page.reload();
    await shows(page, 'one two');
    steps.allow(1);
    await shows(page, 'one two three');
    await page.reload();
    steps.allow(2);
    await shows(page, 'one two three four');
    await expect.poll(() => page.locator('output').innerText()).toBe('ready');
    await say(page, 'more');
    steps.allow(4);
    await shows(page, 'more two three four');
    expect(await page.locator('section').count()).toBe(4);
    expect(problems).toEqual([]);
  });

  it.each([
    { button: 'Approve', state: 'output-available', text: 'Ordered Dune.' },
    { button: 'Deny', state: 'output-denied', text: 'Then I leave it.' },
  ])('$button: the tool ends as $state', async ({ button, state, text }) => {
    const { page } = await open(shop);
    await say(page, 'Dune');
    await page.getByText('approval-requested').waitFor();
    // The question survives a reload.
    await page.reload();
    await page.getByRole('button', { name: button }).click();
    await page.getByText(text, { exact: true }).waitFor();
    expect(await page.locator('.tool em').allInnerTexts()).toEqual([state]);
    await expect.poll(() => page.locator('output').innerText()).toBe('ready');
    expect(await page.locator('section').count()).toBe(2);
  });

  it('stops the agent', async () => {
    const { page, url } = await openChat(
      {
        async execute({ signal }, events) {
          await events.artifact('Working', { artifactId: 'response' });
          await new Promise((stopped) => signal.addEventListener('abort', stopped));
        },
      },
      way,
    );
    await say(page, 'work');
    await shows(page, 'Working');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.locator('output').innerText()).toBe('ready');
    const client = await connect(url);
    const states = async () => (await client.listTasks()).tasks.map(({ status }) => status.state);
    await expect.poll(states).toEqual(['TASK_STATE_CANCELED']);
  });

  it('shows files', async () => {
    const { page } = await open(archivist.agent);
    await say(page, 'files');
    const image = page.locator('img').first();
    await image.waitFor();
    expect(await image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth)).toBeGreaterThan(0);
    const hrefs = await page.locator('section a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(hrefs).toEqual(['https://files.example.com/report.pdf']);
  });

  it('runs nothing of a hostile agent', async () => {
    const { page, problems } = await open(hostile.agent);
    await say(page, 'hello');
    await expect.poll(() => page.locator('output').innerText()).toBe('ready');
    await shows(page, 'document.title = "owned"');
    expect(await page.title()).toBe('Chat');
    for (const selector of ['script', 'iframe', 'svg', '[onerror]', '[href^=javascript]'])
      expect([selector, await page.locator(`section ${selector}`).count()]).toEqual([selector, 0]);
    expect(problems).toEqual([]);
  });
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** Waits until the last message has a text. */
async function shows(page: Page, text: string): Promise<void> {
  await expect.poll(() => page.locator('section').last().locator('p').first().innerText()).toContain(text);
}
