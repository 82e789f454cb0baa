import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { connect, type SendMessageResponse, textOf } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { expect, it } from 'vitest';
import { refundAgent } from './refund-agent.js';

function taskOf(answer: SendMessageResponse) {
  if (answer.task !== undefined) return answer.task;
  throw new Error('not a task');
}

it('a large refund is paid after an approval, a small one at once', async () => {
  const model = new ScriptedModel([
    [functionCall('refund', { euros: 5 }, { callId: 'small' })],
    [assistantMessage('You get 5 euros.')],
    [functionCall('refund', { euros: 50 }, { callId: 'large' })],
    [assistantMessage('You get 50 euros.')],
  ]);
  const server = createA2AServer({ agent: openAIAgent({ agent: refundAgent(model) }), name: 'Refunds' });
  try {
    const { url } = await server.listen(0);
    const client = await connect(url);
    expect(textOf(taskOf(await client.ask('Refund 5 euros')))).toBe('You get 5 euros.');
    const asked = taskOf(await client.ask('Refund 50 euros'));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(model.calls)).not.toContain('50 euros are on their way');
    const message = { taskId: asked.id, parts: [{ text: 'yes' }] };
    expect(textOf(taskOf(await client.ask({ message })))).toBe('You get 50 euros.');
    expect(JSON.stringify(model.calls)).toContain('50 euros are on their way');
  } finally {
    await server.close({ graceMs: 0 });
  }
});
