import { Agent, tool } from '@openai/agents';
import { assistantMessage, functionCall, modelStreamResponder, ScriptedModel } from '@openai/agents/testing';
import { connect, createA2AServer, silentLogger, type Task } from 'parley-a2a';
import { usageIn } from 'parley-a2a/client';
import type { TokenBudgetOptions } from 'parley-a2a/server';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

/** Three steps with a tool, and an answer. Each takes 10 tokens of input, 4 of them from a cache, and 2 of output. */
async function runAgent(tokenBudget: TokenBudgetOptions = {}) {
  let calls = 0;
  const steps = Array.from({ length: 4 }, (_, at) =>
    modelStreamResponder(async function* () {
      calls += 1;
      yield { type: 'response_started' } as const;
      const usage = { inputTokens: 10, outputTokens: 2, totalTokens: 12, inputTokensDetails: { cached_tokens: 4 } };
      const output = at < 3 ? [functionCall('look', {}, { callId: `c${at}` })] : [assistantMessage('Done')];
      yield { type: 'response_done', response: { id: `r${at}`, usage, output } } as const;
    }),
  );
  const look = tool({ name: 'look', description: 'Looks.', parameters: z.object({}), execute: () => 'seen' });
  const agent = new Agent({ name: 'A', model: new ScriptedModel(steps), tools: [look] });
  const server = createA2AServer({ agent: openAIAgent({ agent }), logger: silentLogger, tokenBudget });
  const { url } = await server.listen(0);
  const client = await connect(url);
  onTestFinished(async () => {
    await client.close();
    await server.close({ graceMs: 0 });
  });
  const { task } = await client.sendMessage('Hello');
  return { task: task as Task, calls };
}

it('the tokens of a run are those of all calls of its models', async () => {
  const { task } = await runAgent();
  expect(usageIn(task.metadata)).toMatchObject({ inputTokens: 40, outputTokens: 8, cachedInputTokens: 16 });
});

it.each([
  [{ turn: 20 }, '24 of 20', 2],
  [{ task: 12 }, '12 of 12', 1],
])('a budget ends the run: %j', async (budget, figures, most) => {
  const { task, calls } = await runAgent(budget);
  expect([task.status.state, calls]).toEqual(['TASK_STATE_FAILED', most]);
  expect(task.status.message?.parts[0]?.text).toContain(figures);
});
