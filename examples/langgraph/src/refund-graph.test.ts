import { MemorySaver } from '@langchain/langgraph';
import { connect, type SendMessageResponse, textOf } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { langGraphAgent } from 'parley-a2a-langgraph';
import { expect, it } from 'vitest';
import { receiptOf, refundGraph } from './refund-graph.js';

function taskOf(answer: SendMessageResponse) {
  if (answer.task !== undefined) return answer.task;
  throw new Error('not a task');
}

it.each([
  ['yes', '50 euros are on their way.'],
  ['no', 'Nothing is paid.'],
])('a large refund is paid after a question: %s', async (answer, receipt) => {
  const agent = langGraphAgent({
    graph: refundGraph(new MemorySaver()),
    input: ({ text }) => ({ request: text }),
    output: receiptOf,
  });
  const server = createA2AServer({ agent, name: 'Refunds' });
  try {
    const { url } = await server.listen(0);
    const client = await connect(url);
    expect(textOf(taskOf(await client.ask('Refund 5 euros')))).toBe('5 euros are on their way.');
    const asked = taskOf(await client.ask('Refund 50 euros'));
    expect(asked.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
    expect(asked.status.message?.parts[0]).toEqual({ text: 'Refund 50 euros?' });
    const message = { taskId: asked.id, parts: [{ text: answer }] };
    const done = taskOf(await client.ask({ message }));
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts?.[0]?.parts).toEqual([{ text: receipt }]);
  } finally {
    await server.close({ graceMs: 0 });
  }
});
