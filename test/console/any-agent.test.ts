import { request } from 'node:http';
import { ApiKeys } from 'parley-a2a/auth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunningParley } from '../cli/parley.js';
import { launchChromium } from '../support/chromium.mjs';
import { catalogOf, distantAgent, type ForeignAgent, grpcAgent, oldAgent, protectedAgent } from './foreign-agents.js';
import { ChatPage } from './pages/chat-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { expectText } from './world.js';

const KEY = 'key-of-ada-0123456789';
const keys = () => new ApiKeys([{ key: KEY, subject: 'ada' }]);
const agents: ForeignAgent[] = [];
const commands: RunningParley[] = [];

afterEach(async () => {
  for (const command of commands.splice(0)) await command[Symbol.asyncDispose]();
  for (const agent of agents.splice(0)) await agent.close();
});

interface Launch {
  readonly command: RunningParley;
  /** The printed url. */
  readonly url: string;
  readonly origin: string;
  readonly token: string;
}

async function launch(agent: ForeignAgent, ...flags: readonly string[]): Promise<Launch> {
  agents.push(agent);
  const command = new RunningParley(['console', agent.url, ...flags]);
  commands.push(command);
  const url = await command.waitForStdout(/^Console: (.*)$/m);
  const { origin, hash } = new URL(url);
  return { command, url, origin, token: hash.replace('#token=', '') };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** `fetch` sends no Host and no Origin of the caller. */
function ask(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(url, { headers, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
const JSON_TYPE = { 'content-type': 'application/json', 'a2a-version': '1.0' };
const NAVIGATION = { accept: 'text/html', 'sec-fetch-dest': 'document' };

describe('the process', () => {
  it('gives nothing of the agent without the token of the launch', async () => {
    const { origin, token } = await launch(await oldAgent());
    const paths = ['/console/agents.json', '/console/agent-card.json', '/console/extended-card.json', '/'];
    for (const path of [...paths, '/agent/.well-known/agent-card.json']) {
      for (const headers of [{}, { 'parley-console-token': 'x' }, { 'parley-console-token': `${token}x` }]) {
        const { status, body } = await ask(`${origin}${path}`, headers);
        expect([path, status, body.includes('Old agent')]).toEqual([path, 401, false]);
      }
    }
    expect((await ask(`${origin}/agent`, JSON_TYPE, CALL)).status).toBe(401);
    const known = { 'parley-console-token': token };
    expect((await ask(`${origin}/agent`, { ...JSON_TYPE, ...known }, CALL)).status).toBe(200);
    const { status, body } = await ask(`${origin}/console/agents.json`, known);
    expect([status, JSON.parse(body).agents.length]).toEqual([200, 1]);
  });

  it('gives the page without the token, and the page holds nothing of the agent', async () => {
    const { origin, token } = await launch(await oldAgent());
    const { status, body } = await ask(`${origin}/`, NAVIGATION);
    expect([status, body.includes('<div id="console">')]).toEqual([200, true]);
    expect(body).not.toContain('Old agent');
    expect(body).not.toContain(token);
  });

  it('refuses pages of other origins and other names of this machine, also with the token', async () => {
    const { origin, token } = await launch(await oldAgent());
    const known = { ...JSON_TYPE, 'parley-console-token': token };
    const { port } = new URL(origin);
    for (const foreign of ['https://evil.example', `http://localhost:${Number(port) + 1}`, 'null']) {
      expect((await ask(`${origin}/agent`, { ...known, origin: foreign }, CALL)).status).toBe(403);
    }
    for (const host of ['evil.example', `evil.example:${port}`]) {
      expect((await ask(`${origin}/console/agents.json`, { ...known, host })).status).toBe(421);
      expect((await ask(`${origin}/`, { ...NAVIGATION, host })).status).toBe(421);
    }
    expect((await ask(`${origin}/agent`, { ...known, origin }, CALL)).status).toBe(200);
  });

  it('listens on loopback only, at the port of the flag, and ends on SIGINT with 0', async () => {
    const { command, origin } = await launch(await oldAgent(), '--port', '0');
    expect(new URL(origin).hostname).toBe('127.0.0.1');
    const { code, stderr } = await command.stop('SIGINT');
    expect([code, stderr]).toEqual([0, '']);
  });

  it('prints one JSON document, and each launch has another token', async () => {
    const agent = await oldAgent();
    agents.push(agent);
    const urls = [];
    for (let at = 0; at < 2; at++) {
      const command = new RunningParley(['console', agent.url, '-o', 'json']);
      commands.push(command);
      urls.push(JSON.parse(await command.waitForStdout(/^\{.*\}$/m)));
    }
    expect(urls).toMatchObject([{ name: 'Old agent' }, { name: 'Old agent' }]);
    expect(new Set(urls.map(({ url }) => new URL(url).hash)).size).toBe(2);
  });

  it('shows all agents of a catalog, and sends a credential of a flag to none of them', async () => {
    const { origin, token } = await launch(await catalogOf({ Amsel: true, Bussard: true, Chukar: false }));
    const known = { 'parley-console-token': token };
    const { agents: listed } = JSON.parse((await ask(`${origin}/console/agents.json`, known)).body);
    expect(listed).toMatchObject([
      { calls: '/agent', path: expect.stringMatching(/#Amsel$/) },
      { calls: '/agent-2', path: expect.stringMatching(/#Bussard$/) },
      { failure: expect.stringContaining('503'), path: expect.stringMatching(/#Chukar$/) },
    ]);
    for (const { card } of listed.slice(0, 2)) expect((await ask(`${origin}${card}`, {})).status).toBe(401);
    expect((await ask(`${origin}/agent-2`, { ...JSON_TYPE, ...known }, CALL)).status).toBe(200);
    const agent = await catalogOf({ Amsel: true, Bussard: true });
    agents.push(agent);
    const { code, stderr } = await new RunningParley(['console', agent.url, '--bearer', 'token']).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('--bearer goes to one agent only')]);
  });

  it('does not start without a card, and has help', async () => {
    const command = new RunningParley(['console', 'http://127.0.0.1:9']);
    expect((await command.ended).code).toBe(3);
    const help = await new RunningParley(['console', '--help']).ended;
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('parley console localhost:8080')]);
  });
});

describe('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function openPage(url: string): Promise<Page> {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    await page.goto(url);
    return page;
  }

  it('talks to an agent of the 0.3 SDK, and shows its task and its card', async () => {
    const { url, token, origin } = await launch(await oldAgent());
    const page = await openPage(url);
    const chat = new ChatPage(page);
    await chat.say('Hello');
    await expectText(chat.text, 'Old answer: Hello');
    expect(page.url()).not.toContain(token);
    await page.reload();
    await expectText(chat.text, 'Old answer: Hello');
    await chat.openTask();
    await expectText(() => page.getByRole('main').innerText(), 'Completed');
    await page.getByRole('navigation').getByRole('link', { name: 'Agent card' }).click();
    await expectText(() => page.getByRole('main').innerText(), 'Speaks 0.3 only.');
    // A new tab has no token.
    const stranger = await openPage(origin);
    await expectText(() => stranger.getByRole('main').innerText(), 'by the url that parley console has printed');
  });

  it('shows all agents of a catalog, talks to each, and tells which cannot be reached', async () => {
    const { url } = await launch(await catalogOf({ Amsel: true, Bussard: true, Chukar: false }));
    const page = await openPage(url);
    const main = page.getByRole('main');
    await expectText(() => main.innerText(), 'Agents without a readable card');
    expect(await main.getByRole('alert').innerText()).toContain('#Chukar: ');
    for (const name of ['Amsel', 'Bussard']) {
      await page.getByRole('link', { name: 'Parley' }).click();
      await page.getByRole('heading', { name }).getByRole('link').click();
      const chat = new ChatPage(page);
      await chat.say('Who are you?');
      await expectText(chat.text, `I am ${name}`);
    }
  });

  it('says in words that an agent of another machine cannot be called, and cannot reach the inbox', async () => {
    const { url } = await launch(await distantAgent());
    const page = await openPage(url);
    const chat = new ChatPage(page);
    await chat.say('Hello');
    await expectText(chat.text, 'agents.invalid/a2a/jsonrpc cannot be reached: there is no such host');
    await page.getByRole('navigation').getByRole('link', { name: 'Push inbox' }).click();
    const inbox = () => page.getByRole('main').innerText();
    await expectText(inbox, 'The agent is at agents.invalid, and this inbox is on loopback');
    await expectText(inbox, 'parley push receive --host');
  });

  it('talks to an agent that only gRPC reaches', async () => {
    const { url } = await launch(await grpcAgent());
    const page = await openPage(url);
    const chat = new ChatPage(page);
    await chat.say('Hello');
    await expectText(chat.text, 'Over gRPC: Hello');
    await page.getByRole('link', { name: 'Agent card' }).click();
    const problems = page.getByRole('region', { name: 'Problems' });
    await expectText(() => problems.innerText(), 'flavour');
    expect(await problems.innerText()).not.toContain('against the schema');
  });

  it('signs in to a protected agent with a key that stays in the tab', async () => {
    const { url } = await launch(await protectedAgent(keys()));
    const page = await openPage(url);
    const form = new SignInPage(page);
    await expectText(form.text, 'Sign in to Vault');
    await form.withKey('key-of-nobody-0123456789');
    const chat = new ChatPage(page);
    await chat.say('Hello');
    await expectText(form.text, 'The agent refused the credential');
    await form.withKey(KEY);
    await chat.say('Hello');
    await expectText(chat.text, 'Open for apikey|ada');
    expect(await page.evaluate<string>('JSON.stringify(localStorage)')).not.toContain(KEY);
    await page.getByRole('link', { name: 'Agent card' }).click();
    await page.getByRole('button', { name: 'Get the extended card' }).click();
    await expectText(
      () => page.getByRole('region', { name: 'Extended card', exact: true }).innerText(),
      'Opens twice.',
    );
    await expectText(() => page.getByRole('main').innerText(), 'The card follows the schema.');
  });

  it('uses the credentials of the tool without a sign-in, and does not get them', async () => {
    const { url } = await launch(await protectedAgent(keys()), '--api-key', KEY);
    const page = await openPage(url);
    const chat = new ChatPage(page);
    await chat.say('Hello');
    await expectText(chat.text, 'Open for apikey|ada');
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(kept).not.toContain(KEY);
  });
});
