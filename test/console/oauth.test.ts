import type { SecurityScheme } from 'parley-a2a';
import type { Authenticator } from 'parley-a2a/server';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { RunningParley } from '../cli/parley.js';
import { type AuthorizationServer, startAuthorizationServer } from '../credentials/authorization-server.js';
import { introspectToken } from '../credentials/protected-agent.js';
import { launchChromium } from '../support/chromium.mjs';
import { protectedAgent } from './foreign-agents.js';
import { AuthorizationPage } from './pages/authorization-page.js';
import { ChatPage } from './pages/chat-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { consoleWorld, expectText } from './world.js';

const PLACE = '#/agent/%2Fstory/chat';
const world = consoleWorld();
let provider: AuthorizationServer;

beforeAll(async () => {
  provider = await startAuthorizationServer();
});
afterAll(() => provider.close());

/** Takes the tokens of the provider. */
function authenticator(securitySchemes: Readonly<Record<string, SecurityScheme>>): Authenticator {
  const userOf = introspectToken(provider.issuer);
  const challenges = ['Bearer realm="agent"'];
  return {
    challenges,
    securitySchemes,
    securityRequirements: [{ schemes: { login: { list: ['openid'] } } }],
    async authenticate(credentials) {
      const header = credentials.header('authorization');
      if (header === undefined) return { kind: 'anonymous' };
      const name = await userOf(header);
      if (name === undefined) return { kind: 'refused', reason: 'unknown', challenges };
      return { kind: 'user', user: { id: `test|${name}`, name, schemes: ['login'], scopes: ['openid'] } };
    },
  };
}

const code = (): SecurityScheme => ({
  oauth2SecurityScheme: {
    flows: {
      authorizationCode: {
        authorizationUrl: `${provider.issuer}/auth`,
        tokenUrl: `${provider.issuer}/token`,
        scopes: {},
      },
    },
  },
});
const device = (): SecurityScheme => ({
  oauth2SecurityScheme: {
    flows: {
      deviceCode: {
        deviceAuthorizationUrl: `${provider.issuer}/device/auth`,
        tokenUrl: `${provider.issuer}/token`,
        scopes: {},
      },
    },
  },
});
const openId = (): SecurityScheme => ({
  openIdConnectSecurityScheme: { openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` },
});

it.each([
  ['OAuth 2', code],
  ['OpenID Connect', openId],
])('signs in by a page of the authorization server: %s', async (_name, scheme) => {
  const { page, open, url, foreign, problems } = await world({ authenticator: authenticator({ login: scheme() }) });
  const called: string[] = [];
  page.on('request', (request) => {
    if (/tasks|message|\/story$/.test(request.url())) called.push(request.url());
  });
  await open(PLACE);
  const form = new SignInPage(page);
  await expectText(form.text, 'Sign in by a page');
  expect(await form.text()).toContain(`${url}/console`);
  await form.byPage('browser');
  const there = await AuthorizationPage.from(page);
  await there.agree('ada');
  await expectText(there.text, 'Close this tab');
  expect(there.page.url()).toBe(`${url}/console`);
  const chat = new ChatPage(page);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(called).toEqual([]);
  await chat.say('Note: of ada');
  await expectText(chat.text, 'Noted: of ada');
  // The login survives a reload, in this tab only. The page itself calls no other server.
  await page.reload();
  await chat.say('Note: again');
  await expectText(chat.text, 'Noted: again');
  expect(await page.evaluate<string>('JSON.stringify(localStorage)')).not.toContain('accessToken');
  expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });
  const { body } = provider.tokenRequests.at(-1) ?? {};
  expect(body).toMatchObject({ grant_type: 'authorization_code', code_verifier: expect.stringMatching(/^.{43,}$/) });
  await form.signOut();
  expect(await page.evaluate<string>('JSON.stringify(sessionStorage)')).not.toContain('accessToken');
});

it('signs in with a code on another device', async () => {
  const { page, open } = await world({ authenticator: authenticator({ login: device() }) });
  await open(PLACE);
  const form = new SignInPage(page);
  await form.withCode('television');
  await expectText(form.text, 'Your code is');
  const there = await AuthorizationPage.from(page);
  await there.confirmCode();
  await there.agree('ada');
  const chat = new ChatPage(page);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await chat.say('Note: of ada');
  await expectText(chat.text, 'Noted: of ada');
});

it('signs in to another agent by a page, through parley console', async () => {
  const agent = await protectedAgent(authenticator({ login: code() }));
  await using command = new RunningParley(['console', agent.url]);
  onTestFinished(async () => void (await agent.close()));
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(await command.waitForStdout(/^Console: (.*)$/m));
  const form = new SignInPage(page);
  await expectText(form.text, 'Sign in by a page');
  await form.byPage('browser');
  const there = await AuthorizationPage.from(page);
  await there.agree('ada');
  await expectText(there.text, 'Close this tab');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const chat = new ChatPage(page);
  await chat.say('Hello');
  await expectText(chat.text, '/ ada /');
  const { body } = provider.tokenRequests.at(-1) ?? {};
  expect(body).toMatchObject({ grant_type: 'authorization_code', code_verifier: expect.stringMatching(/^.{43,}$/) });
});

it('tells why the authorization server refuses', async () => {
  const { page, open } = await world({ authenticator: authenticator({ login: device() }) });
  await open(PLACE);
  const form = new SignInPage(page);
  await form.withCode('a client that nobody knows');
  await expectText(form.text, 'refuses a token: invalid_client');
});

it('the server asks only the endpoints that its cards name', async () => {
  const { url } = await world({ authenticator: authenticator({ login: openId() }) });
  const ask = (asked: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/console/oauth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(asked),
    });
  const document = `${provider.issuer}/.well-known/openid-configuration`;
  const token = { url: `${provider.issuer}/token`, body: 'grant_type=x' };
  // The endpoint is not known before the document.
  expect((await ask(token)).status).toBe(403);
  for (const asked of [
    { url: `${provider.issuer}/me` },
    { url: `${provider.issuer}/session/end`, body: '' },
    { url: 'http://169.254.169.254/.well-known/x' },
    { url: document, body: 'x' },
    { url: 'file:///etc/passwd' },
    { url: 7 },
    'text',
  ]) {
    expect([asked, [400, 403].includes((await ask(asked)).status)]).toEqual([asked, true]);
  }
  expect((await ask({ url: document })).status).toBe(200);
  expect((await ask(token)).status).toBe(400);
  expect((await ask({ url: document }, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await ask({ url: document }, { 'content-type': 'text/plain' })).status).toBe(403);
  expect((await ask({ url: document }, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(404);
  expect((await fetch(`${url}/console/oauth`)).status).toBe(405);
});
