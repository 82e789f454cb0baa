import { BearerTokens } from 'parley-a2a/auth';
import { connect, type TaskUsage, usageIn } from 'parley-a2a/client';
import { expect, it } from 'vitest';
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
  const beyond = taskOf(await client.sendMessage('3'));
  expect(beyond.status.state).toBe('TASK_STATE_FAILED');
  expect(beyond.status.message?.parts[0]?.text).toBe(
    'The budget of one turn is used up: 125 of 100 tokens. The operator sets it by tokenBudget.turn.',
  );
});

it('a called agent gets the rest of the budget, and may only lower its own', async () => {
  await using agents = new Agents();
  const seen: (string | undefined)[] = [];
  const generous = await agents.listen(callee, { tokenBudget: { turn: 1_000 } });
  const { client } = await agents.listen(callerOf(generous.url, seen), { tokenBudget: { turn: 60 } });
  // 55 are left for the first call, and 15 for the second.
  expect(taskOf(await client.sendMessage('2')).status.state).toBe('TASK_STATE_FAILED');
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
