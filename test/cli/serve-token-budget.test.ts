import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'parley-a2a';
import { expect, it } from 'vitest';
import { EmptyFolder, ServedAgent } from './parley.js';

const AGENT = `export default {
  async execute(context, events) {
    await context.countTokens({ inputTokens: 60, outputTokens: 0 });
    await context.countTokens();
    await events.complete('done');
  },
};`;

it.each([
  ['the flag', ['--token-budget', 'turn=50'], {}],
  ['A2A_TOKEN_BUDGET', [], { A2A_TOKEN_BUDGET: 'task=1000,turn=50' }],
])('`parley serve` ends a turn at its budget of tokens: %s', async (_, args, env) => {
  using folder = new EmptyFolder();
  const module = join(folder.path, 'agent.mjs');
  writeFileSync(module, AGENT);
  await using agent = await ServedAgent.start(['serve', module, ...args], { env });
  const client = await connect(agent.url);
  const { task } = await client.sendMessage('hello');
  await client.close();
  expect(task?.status.state).toBe('TASK_STATE_FAILED');
  expect(JSON.stringify(task?.status.message)).toContain('60 of 50 tokens');
});
