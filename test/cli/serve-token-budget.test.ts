import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EmptyFolder, parley, parleyJson, ServedAgent } from './parley.js';

/** An agent whose model uses 60 tokens for each message. It checks its budgets before each call of the model. */
const AGENT = `export default {
  async execute(context, events) {
    await context.countTokens();
    await context.countTokens({ inputTokens: 50, outputTokens: 10 });
    if (context.text === 'ask') await events.inputRequired('and?');
    else await events.complete('done');
  },
};`;

/** Serves the agent. `send` sends a message, and returns the task as JSON. */
async function serveAgent(folder: EmptyFolder, args: readonly string[], env = {}) {
  const module = join(folder.path, 'agent.mjs');
  writeFileSync(module, AGENT);
  const agent = await ServedAgent.start(['serve', module, ...args], { env });
  const send = async (...words: readonly string[]) =>
    (await parley(['send', ...words, '-a', agent.url, '-o', 'json'])).stdout;
  return { send, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() };
}

it.each([
  ['the flag', ['--token-budget', 'turn=50'], {}],
  ['A2A_TOKEN_BUDGET', [], { A2A_TOKEN_BUDGET: 'task=1000,turn=50' }],
])('`parley serve` ends a turn at its token budget: %s', async (_, args, env) => {
  using folder = new EmptyFolder();
  await using served = await serveAgent(folder, args, env);
  const answer = await served.send('hello');
  expect(answer).toContain('TASK_STATE_FAILED');
  expect(answer).toContain('60 of 50 tokens');
});

it('`parley serve` ends a task at its token budget, which its turns share', async () => {
  using folder = new EmptyFolder();
  await using served = await serveAgent(folder, ['--token-budget', 'task=150', '--token-budget', 'turn=100']);
  const id = /"id":\s*"([^"]+)"/.exec(await served.send('ask'))?.[1] ?? '';
  expect(await served.send('ask', '--task-id', id)).toContain('TASK_STATE_INPUT_REQUIRED');
  const last = await served.send('ask', '--task-id', id);
  expect(last).toContain('TASK_STATE_FAILED');
  expect(last).toContain('180 of 150 tokens');
  expect(await served.send('hello')).toContain('TASK_STATE_COMPLETED');
});

it('`parley serve` ends only the turns of a user whose daily budget is used up', async () => {
  using folder = new EmptyFolder();
  const keys = join(folder.path, 'keys.json');
  const keyOf = async (user: string) =>
    (await parleyJson<{ readonly key: string }>(['keys', 'create', user, '--api-keys-file', keys])).key;
  const [ann, bob] = [await keyOf('ann'), await keyOf('bob')];
  await using served = await serveAgent(folder, ['--token-budget', 'ownerPerDay=100', '--api-keys-file', keys]);
  const by = (key: string) => served.send('hello', '--svc-param', `x-api-key:${key}`);
  expect(await by(ann)).toContain('TASK_STATE_COMPLETED');
  // A turn may exceed the budget by one call of a model. The next turn makes no call.
  expect(await by(ann)).toContain('The budget of this user is used up for today: 120 of 100 tokens');
  const refused = await by(ann);
  expect(refused).toContain('The budget of this user is used up for today');
  expect(refused).not.toContain('inputTokens');
  expect(await by(bob)).toContain('TASK_STATE_COMPLETED');
});
