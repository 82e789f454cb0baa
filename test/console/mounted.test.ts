import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { exportJWK, generateKeyPair } from 'jose';
import { ApiKeys } from 'parley-a2a/auth';
import { toExpress } from 'parley-a2a/express';
import { createAgentHandler, type HostOptions, type MountOptions } from 'parley-a2a/server';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../support/chromium.mjs';
import { storyteller } from './agents.js';
import { ChatPage } from './pages/chat-page.js';
import { InboxPage } from './pages/inbox-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { Steps } from './steps.js';
import { expectText } from './world.js';

const NAVIGATION = { accept: 'text/html', 'sec-fetch-dest': 'document' };
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

type Options = HostOptions & MountOptions;

const steps = new Steps();

function handlerOf(options: Options = {}) {
  const handler = createAgentHandler({ ...storyteller(steps), console: true, ...options });
  onTestFinished(() => handler.close({ graceMs: 0 }));
  return handler;
}

async function serveListener(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An agent below a path of an application, and a page of its console. */
async function mountAgent(options: Options = {}) {
  const app = express();
  app.use('/agents/story', toExpress(handlerOf(options)));
  app.use((_request, response) => void response.status(418).end());
  const url = await serveListener(app);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('response', (answer) => {
    // The application itself gets no request of the page.
    if (answer.status() === 418) problems.push(answer.url());
  });
  return { url: `${url}/agents/story`, page, problems };
}

it('an agent in Express: conversation, task, card and push inbox below its path', async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(privateKey)), kty: 'EC', kid: 'key', alg: 'ES256' }];
  const push = { allow: ['127.0.0.1'], signature: { issuer: 'https://agents.example.com', keys } };
  const { url, page, problems } = await mountAgent({ push });
  await page.goto(`${url}/console`);
  const chat = new ChatPage(page);
  await chat.say('Note: buy oil');
  await expectText(chat.text, 'Noted: buy oil');
  await page.reload();
  await expectText(chat.text, 'Noted: buy oil');
  await chat.newConversation();
  await chat.say('Tell me about the lighthouse');
  await expectText(chat.text, 'Task and timeline');
  await chat.openTask();
  const inbox = new InboxPage(page);
  await inbox.openFromTask();
  steps.allow(1);
  await expectText(inbox.text, 'signature verified, answered 204');
  await page.getByRole('navigation').getByRole('link', { name: 'Agent card' }).click();
  await expectText(() => page.getByRole('main').innerText(), 'The card follows the schema.');
  expect(problems).toEqual([]);
});

it('a protected agent in Express: the page loads, and its user signs in', async () => {
  const { url, page, problems } = await mountAgent({
    authenticator: new ApiKeys([{ key: 'key-of-ada-0123456789', subject: 'ada' }]),
  });
  await page.goto(`${url}/console`);
  const chat = new ChatPage(page);
  await new SignInPage(page).withKey('key-of-ada-0123456789');
  await chat.say('Note: buy oil');
  await expectText(chat.text, 'Noted: buy oil');
  expect(problems).toEqual([]);
});

it('a handler of the web with a path: its console is below that, for direct requests of this machine only', async () => {
  const { fetch } = handlerOf({ url: 'http://localhost:3000', path: '/agents/story' });
  const at = (path: string, headers: Record<string, string> = NAVIGATION, host = 'localhost:3000') =>
    fetch(new Request(`http://${host}/agents/story${path}`, { headers }));
  const page = await at('/console');
  expect(page.status).toBe(200);
  const script = /src="\/agents\/story(\/console\/[^"]+)"/.exec(await page.text())?.[1] ?? '';
  expect((await at(script, {})).headers.get('content-type')).toContain('javascript');
  expect(await (await at('/console/agents.json', {})).json()).toMatchObject({
    agents: [{ path: '/agents/story', card: '/agents/story/.well-known/agent-card.json' }],
  });
  for (const path of ['/console', '/console/agents.json', script]) {
    expect((await at(path, { ...NAVIGATION, 'x-forwarded-for': '192.0.2.1' })).status).toBe(404);
    for (const host of ['evil.example', 'agents.example.com']) {
      expect([404, 421]).toContain((await at(path, NAVIGATION, host)).status);
    }
  }
});

it('a handler with a public url has no console for it, and none without the option', async () => {
  const url = 'https://agents.example.com';
  const open = handlerOf({ url });
  expect((await open.fetch(new Request(`${url}/console`, { headers: NAVIGATION }))).status).toBe(404);
  const without = handlerOf({ url: 'http://localhost:3000', console: false });
  const request = new Request('http://localhost:3000/console', { headers: NAVIGATION });
  expect((await without.fetch(request)).status).toBe(404);
});
