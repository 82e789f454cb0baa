import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { apiKey } from 'parley-a2a/credentials';
import { openAuditFile } from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { expect, it } from 'vitest';
import { Receiver } from '../push/receiver.js';
import { OperatorPage } from './pages/operator-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { consoleWorld, expectText, type World } from './world.js';

const KEYS = { ada: 'key-of-ada-0123456789', bob: 'key-of-bob-0123456789', olga: 'key-of-olga-0123456789' };
const TOKEN = 'token-of-a-launch-0123456789-0123456789';
const authenticator = new ApiKeys([
  { key: KEYS.ada, subject: 'ada' },
  { key: KEYS.bob, subject: 'bob' },
  { key: KEYS.olga, subject: 'olga', permissions: ['operator'] },
]);
const EMPTY_AUDIT = { write: () => {}, read: async () => ({ records: [], unreadable: 0 }) };
const opened = consoleWorld();
const world = () =>
  opened({
    authenticator,
    operator: operatorApi({ token: TOKEN }),
    push: { allow: ['127.0.0.0/8'] },
    audit: EMPTY_AUDIT,
  });

/** Creates a task that waits for input for each of two users, the first one with a webhook. Returns the ids. */
async function twoUsers({ url }: World, webhook: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const key of [KEYS.ada, KEYS.bob]) {
    const client = await connect(`${url}/rooms`, { credentials: apiKey(key) });
    const push = key === KEYS.ada && { taskPushNotificationConfig: { id: 'hook', url: webhook } };
    const sent = await client.sendMessage({
      message: { parts: [{ text: 'A room please' }] },
      configuration: { ...push },
    });
    if (!('task' in sent) || sent.task === undefined) throw new Error('The answer has no task');
    ids.push(sent.task.id);
    await client.close();
  }
  return ids;
}

it('an operator sees the tasks of two users, the longest silent first, and replays a failed webhook', async () => {
  await using receiver = await Receiver.open((response) => response.writeHead(410).end());
  const here = await world();
  const { page, open, problems } = here;
  const [ofAda = '', ofBob = ''] = await twoUsers(here, receiver.url);
  await open('#/agent/%2Frooms/tasks');
  await new SignInPage(page).withKey(KEYS.olga);
  const operator = new OperatorPage(page);
  await operator.open();
  await expect.poll(operator.tasks).toHaveLength(2);
  const [first, second] = await operator.tasks();
  expect(first).toMatch(new RegExp(`${ofAda}[^]*apikey\\|ada`));
  expect(second).toMatch(new RegExp(`${ofBob}[^]*apikey\\|bob`));
  await expect.poll(operator.replicas).toEqual([expect.stringContaining('Alive')]);
  await expect.poll(operator.webhooks, { timeout: 20_000 }).toEqual([expect.stringContaining('410')]);
  await operator.openTask(ofBob);
  await expectText(operator.text, '"records"');
  receiver.answering = (response) => response.writeHead(204).end();
  await operator.replayFirst();
  await expect.poll(operator.webhooks).toEqual([]);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(1);
  expect(problems).toEqual([]);
});

it('an operator sees counts, and filters tasks by state, agent and owner', async () => {
  await using receiver = await Receiver.open();
  const here = await world();
  const { page, open, url, problems } = here;
  const [ofAda = '', ofBob = ''] = await twoUsers(here, receiver.url);
  const bob = await connect(`${url}/rooms`, { credentials: apiKey(KEYS.bob) });
  await bob.cancelTask({ id: ofBob });
  await bob.close();
  await open('#/operator');
  const operator = new OperatorPage(page);
  await operator.giveToken(TOKEN);
  await expect.poll(operator.tasks).toEqual([expect.stringContaining(ofAda)]);
  expect(await operator.counts()).toEqual([
    expect.stringMatching(/Needs your answer\s+1/),
    expect.stringMatching(/Canceled\s+1/),
  ]);
  await operator.filter({ state: 'Canceled' });
  await expect.poll(operator.tasks).toEqual([expect.stringContaining(ofBob)]);
  await operator.filter({ agent: '/paint' });
  await expect.poll(operator.tasks).toEqual([]);
  await operator.filter({ state: 'Unfinished', agent: '/rooms', owner: 'apikey|bob' });
  await expectText(operator.text, 'No such tasks');
  await operator.filter({ owner: 'apikey|ada' });
  await expect.poll(operator.tasks).toEqual([expect.stringContaining(ofAda)]);
  expect(problems).toEqual([]);
});

it('an operator reads audit records, or where they would be', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-console-'));
  const audit = await openAuditFile({ path: join(folder, 'audit.jsonl') });
  try {
    const { page, open, url } = await opened({ authenticator, operator: operatorApi({ token: TOKEN }), audit });
    const ada = await connect(`${url}/rooms`, { credentials: apiKey(KEYS.ada) });
    for (let at = 0; at < 60; at += 1) await ada.getTask({ id: `none ${at}` }).catch(() => undefined);
    await open('#/operator');
    const operator = new OperatorPage(page);
    await operator.giveToken(TOKEN);
    await expect.poll(operator.records).toHaveLength(50);
    expect((await operator.records())[0]).toMatch(
      /refused\s+getTask\s+apikey\|ada\s+\/rooms\s+none 59\s+TASK_NOT_FOUND/,
    );
    await operator.showEarlierRecords();
    await expect.poll(async () => (await operator.records()).join()).toContain('none 0');
    await ada.getTask({ id: 'another' }).catch(() => undefined);
    await operator.readRecordsAgain();
    await expect.poll(async () => (await operator.records())[0]).toContain('another');
    await ada.close();
  } finally {
    await audit.close();
    rmSync(folder, { recursive: true });
  }
});

it('a server without an audit file says how it gets one', async () => {
  const { page, open } = await opened({ operator: operatorApi({ token: TOKEN }) });
  await open('#/operator');
  const operator = new OperatorPage(page);
  await operator.giveToken(TOKEN);
  await expectText(operator.auditText, 'A2A_AUDIT_FILE');
});

it('a user who is no operator gets nothing of the tasks of others', async () => {
  await using receiver = await Receiver.open();
  const here = await world();
  const { page, open } = here;
  const [ofAda = ''] = await twoUsers(here, receiver.url);
  await open('#/agent/%2Frooms/tasks');
  await new SignInPage(page).withKey(KEYS.bob);
  const operator = new OperatorPage(page);
  await operator.open();
  await expectText(operator.text, 'This is for operators');
  expect(await operator.tasks()).toEqual([]);
  expect(await page.content()).not.toContain(ofAda);
});

it('the token of a launch opens the page without a user, and a wrong one does not', async () => {
  await using receiver = await Receiver.open();
  const here = await world();
  const { page, open } = here;
  const [ofAda = ''] = await twoUsers(here, receiver.url);
  await open('#/operator');
  const operator = new OperatorPage(page);
  await expectText(operator.text, 'Only operators see this');
  await operator.giveToken('token-of-nobody-0123456789-0123456789');
  await expectText(operator.text, 'not accepted');
  await operator.giveToken(TOKEN);
  await expectText(operator.text, ofAda);
});

it('a server without an operator API shows no such page in its menu', async () => {
  const { page, open } = await opened();
  await open();
  await page.getByRole('link', { name: 'Waiting for me' }).waitFor();
  expect(await page.getByRole('link', { name: 'Operator', exact: true }).count()).toBe(0);
});
