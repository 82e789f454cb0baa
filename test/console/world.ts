import { type A2AHost, type A2AHostOptions, createA2AHost } from 'parley-a2a/node';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchChromium } from '../support/chromium.mjs';
import { archivist, hostile, painter, STORY, storyteller } from './agents.js';
import { cashier, clerk, postman, secretary } from './asking-agents.js';
import { flood, huge } from './flooding-agents.js';
import { ChatPage } from './pages/chat-page.js';
import { InboxPage } from './pages/inbox-page.js';
import { Steps } from './steps.js';

/** A server with the console, and a browser. */
export interface World {
  readonly url: string;
  readonly steps: Steps;
  readonly page: Page;
  /** The requested urls outside of the server. */
  readonly foreign: readonly string[];
  /** Messages of the page about errors and broken policies. */
  readonly problems: readonly string[];
  /** Goes to a place of the console. */
  open(fragment?: string): Promise<void>;
  /** Starts a conversation with an agent. */
  talk(path: string): Promise<ChatPage>;
}

/** Opens one browser for a test file, and a page with a context of its own for each test. */
export function consoleWorld({ showsPdf = false } = {}): (more?: Partial<A2AHostOptions>) => Promise<World> {
  let browser: Browser;
  let host: A2AHost;
  let url: string;
  let steps = new Steps();
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await launchChromium({ showsPdf });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    await host?.close({ graceMs: 100 });
  });
  afterAll(() => browser.close());
  return async (more = {}) => {
    steps = new Steps();
    const agents = {
      '/story': storyteller(steps),
      '/paint': painter,
      '/files': archivist,
      '/hostile': hostile,
      '/pay': cashier,
      '/rooms': clerk,
      '/calendar': secretary,
      '/post': postman,
      '/huge': huge(steps),
      '/flood': flood(steps),
    };
    host = createA2AHost({ agents, console: true, push: false, openapi: true, logRequests: false, ...more });
    ({ url } = await host.listen(0));
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    contexts.push(context);
    const page = await context.newPage();
    const foreign: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) foreign.push(request.url());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    const open = async (fragment = ''): Promise<void> => {
      await page.goto(`${url}/${fragment}`);
    };
    const talk = async (path: string): Promise<ChatPage> => {
      await open(`#/agent/${encodeURIComponent(path)}/chat`);
      return new ChatPage(page);
    };
    return { url, steps, page, foreign, problems, open, talk };
  };
}

/** Waits until a text is in the page. */
export async function expectText(read: () => Promise<string>, text: string): Promise<void> {
  await expect.poll(read, { timeout: 30_000 }).toContain(text);
}

/** Shows the push inbox with all notifications of a story, the latest open. */
export async function filledInbox({ page, steps, talk }: World): Promise<void> {
  const chat = await talk('/story');
  await chat.say('Tell me about the lighthouse');
  await page.getByRole('link', { name: 'Task and timeline' }).click();
  const inbox = new InboxPage(page);
  await inbox.openFromTask();
  steps.allow(STORY.length);
  await expect.poll(inbox.lines).toContainEqual(expect.stringContaining('Completed'));
  await inbox.deliveries.first().locator('summary').click();
}
