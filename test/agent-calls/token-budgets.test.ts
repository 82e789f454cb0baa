import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { BearerTokens } from 'parley-a2a/auth';
import { connect, type TaskUsage, USAGE_EXTENSION, usageIn } from 'parley-a2a/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Agents, executor, taskOf } from './world.js';

/** Uses 40 tokens for each message. */
const callee = executor(async (turn, events) => {
  await turn.countTokens();
  await turn.countTokens({ inputTokens: 30, outputTokens: 10 });
  await events.complete('done');
});

/** Calls another agent as often as the message says, after 5 tokens of its own. */
const callerOf = (url: string, seen: (string | undefined)[] = []) =>
  executor(async (turn, events) => {
    await turn.countTokens({ inputTokens: 5 });
    for (let call = 0; call < Number(turn.text); call += 1) {
      const { task } = await turn.callAgent(url, 'work');
      seen.push(task?.status.state);
    }
    await events.complete();
  });

const text = (usage: TaskUsage | undefined) => usage && [usage.inputTokens, usage.outputTokens, usage.calledTokens];

it('the tokens of called agents count in the task of the caller, and against its budget', async () => {
  await using agents = new Agents();
  const { url } = await agents.listen(callee);
  const { client } = await agents.listen(callerOf(url), { tokenBudget: { turn: 100 } });
  const within = taskOf(await client.sendMessage('2'));
  expect([within.status.state, text(usageIn(within.metadata))]).toEqual(['TASK_STATE_COMPLETED', [5, 0, 80]]);
  const beyond = taskOf(await client.sendMessage('4'));
  expect(beyond.status.state).toBe('TASK_STATE_FAILED');
  expect(beyond.status.message?.parts[0]?.text).toBe(
    'The budget of one turn is used up: 100 of 100 tokens. The operator sets it by tokenBudget.turn.',
  );
});

/** The url of a callee that is no server of the library, and claims tokens. */
async function claimingServer(claim: number): Promise<string> {
  const server = createServer(async (request, response) => {
    const { port } = server.address() as AddressInfo;
    const card = {
      name: 'Liar',
      description: '',
      version: '1',
      supportedInterfaces: [{ url: `http://127.0.0.1:${port}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    const isCard = request.method === 'GET';
    const { id } = isCard ? { id: 0 } : ((await json(request)) as { readonly id: unknown });
    const status = { state: 'TASK_STATE_COMPLETED' };
    const metadata = { [USAGE_EXTENSION]: { inputTokens: claim } };
    const task = { id: 'task', contextId: 'context', status, metadata };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isCard ? card : { jsonrpc: '2.0', id, result: { task } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([1_000, 1e15, 2 ** 53, 1e300, -5])(
  'a callee that claims %d tokens uses up what it was left, and does not end the turn of its caller',
  async (claim) => {
    await using agents = new Agents();
    const url = await claimingServer(claim);
    const { client } = await agents.listen(callerOf(url), { tokenBudget: { turn: 100, task: 1_000 } });
    const { status, metadata } = taskOf(await client.sendMessage('1'));
    expect(status.state).toBe('TASK_STATE_COMPLETED');
    // Counts that are no safe integers are ignored.
    const counted = claim > 0 && Number.isSafeInteger(claim) ? 95 : 0;
    expect(text(usageIn(metadata))).toEqual([5, 0, counted]);
    const lines = agents.logger.lines.filter(({ message }) => message.includes('more tokens than it was left'));
    expect(lines.map(({ fields }) => [fields?.tokens, fields?.left])).toEqual(counted === 0 ? [] : [[claim, 95]]);
  },
);

/** Uses 30 tokens, reports them, uses 10, and works until it is canceled. */
const slow = executor(async (turn, events) => {
  await turn.countTokens({ inputTokens: 30 });
  await events.working('still there');
  await turn.countTokens({ outputTokens: 10 });
  await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
});

it('a callee that its caller gives up counts, with what it tells to the cancel', async () => {
  await using agents = new Agents();
  const { url } = await agents.listen(slow);
  let isSeen = false;
  const { client } = await agents.listen(
    executor(async (turn, events) => {
      await turn.callAgent(url, 'work', { timeoutMs: 2_000 }).then(undefined, () => {});
      while (!isSeen) {
        await events.working('goes on');
        await setTimeout(20);
      }
      await events.complete();
    }),
  );
  const { task } = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
  const usage = async () => usageIn((await client.getTask(task?.id ?? '')).metadata);
  await vi.waitFor(async () => expect(text(await usage())).toEqual([0, 0, 40]), 30_000);
  isSeen = true;
});

it('a callee counts if the turn of its caller is canceled', async () => {
  await using agents = new Agents();
  const { url } = await agents.listen(slow);
  const { client } = await agents.listen(
    executor(async (turn, events) => {
      await turn.callAgent(url, 'work', { into: events });
      await events.complete();
    }),
  );
  const { task } = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
  const id = task?.id ?? '';
  const words = async () => JSON.stringify(await client.getTask(id));
  await vi.waitFor(async () => expect(await words()).toContain('still there'), 30_000);
  const canceled = await client.cancelTask(id);
  expect([canceled.status.state, text(usageIn(canceled.metadata))]).toEqual(['TASK_STATE_CANCELED', [0, 0, 40]]);
});

it('a canceled turn does not wait long for a callee that does not answer the cancel', async () => {
  await using agents = new Agents();
  const called = Promise.withResolvers<void>();
  const deaf = executor(() => {
    called.resolve();
    return new Promise(() => {});
  });
  const { url, client: calleeClient } = await agents.listen(deaf);
  const { client } = await agents.listen(
    executor(async (turn) => {
      await turn.callAgent(url, 'work');
    }),
  );
  const { task } = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
  await called.promise;
  expect((await client.cancelTask(task?.id ?? '')).status.state).toBe('TASK_STATE_CANCELED');
  // The callee is canceled after 5 s.
  const { tasks } = await calleeClient.listTasks();
  expect(tasks.map(({ status }) => status.state)).toEqual([expect.stringMatching(/SUBMITTED|WORKING/)]);
});

it('a called agent gets the rest of the budget, and may only lower its own', async () => {
  await using agents = new Agents();
  const seen: (string | undefined)[] = [];
  const generous = await agents.listen(callee, { tokenBudget: { turn: 1_000 } });
  const { client } = await agents.listen(callerOf(generous.url, seen), { tokenBudget: { turn: 60 } });
  // 55 are left for the first call, and 15 for the second. The third one does not begin.
  expect(taskOf(await client.sendMessage('3')).status.state).toBe('TASK_STATE_FAILED');
  const failed = (await generous.client.listTasks({})).tasks.filter(
    ({ status }) => status.state === 'TASK_STATE_FAILED',
  );
  expect(failed.map(({ status }) => status.message?.parts[0]?.text)).toEqual([
    'The budget that the calling agent has left is used up: 40 of 15 tokens. The operator of that agent sets it.',
  ]);
  const strict = await agents.listen(callee, { tokenBudget: { turn: 20 } });
  const rich = await agents.listen(callerOf(strict.url, seen), { tokenBudget: { turn: 1_000 } });
  await rich.client.sendMessage('1');
  expect(seen.at(-1)).toBe('TASK_STATE_FAILED');
});

it('tokens are counted by agent and user, and the day of a user has a budget', async () => {
  await using agents = new Agents();
  const tokens = ['ann', 'bob'].map((subject) => ({ subject, token: `token-of-${subject}` }));
  const { url } = await agents.listen(callee, {
    authenticator: new BearerTokens(tokens),
    tokenBudget: { ownerPerDay: 80 },
  });
  const states: (string | undefined)[] = [];
  for (const user of ['ann', 'ann', 'ann', 'bob']) {
    const client = await connect(url, { headers: { authorization: `Bearer token-of-${user}` } });
    const { status } = taskOf(await client.sendMessage('work'));
    await client.close();
    states.push(status.message?.parts[0]?.text);
  }
  expect(states).toEqual([
    'done',
    'done',
    'The budget of this user is used up for today: 80 of 80 tokens. The operator sets it by tokenBudget.ownerPerDay.',
    'done',
  ]);
  const headers = { accept: 'text/plain', authorization: 'Bearer token-of-ann' };
  const lines = (await (await fetch(`${url}/metrics`, { headers })).text()).split('\n');
  const found = lines.filter((line) => /^a2a_server_token/.test(line));
  expect(found.sort()).toEqual([
    'a2a_server_token_budgets_exceeded_total{agent="/",budget="ownerPerDay"} 1',
    'a2a_server_tokens_total{agent="/",owner="bearer|ann",type="input"} 60',
    'a2a_server_tokens_total{agent="/",owner="bearer|ann",type="output"} 20',
    'a2a_server_tokens_total{agent="/",owner="bearer|bob",type="input"} 30',
    'a2a_server_tokens_total{agent="/",owner="bearer|bob",type="output"} 10',
  ]);
});
