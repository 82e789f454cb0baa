import type { AgentPart } from '../part.js';

const AGENT = `import { Annotation, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import type { AgentOptions } from 'parley-a2a/server';
import { langGraphAgent } from 'parley-a2a-langgraph';

const Refund = Annotation.Root({ request: Annotation<string>, receipt: Annotation<string> });

/** Asks before it pays more than 10 euros. */
const graph = new StateGraph(Refund)
  .addNode('pay', ({ request }) => {
    const euros = Number(/\\d+/.exec(request)?.[0] ?? 0);
    if (euros === 0) return { receipt: 'Name an amount, such as "Refund 50 euros".' };
    if (euros > 10 && interrupt(\`Refund \${euros} euros?\`) !== 'yes') return { receipt: 'Nothing is paid.' };
    return { receipt: \`\${euros} euros are on their way.\` };
  })
  .addEdge(START, 'pay')
  // A checkpointer on a database keeps open questions over a restart.
  .compile({ checkpointer: new MemorySaver() });

/** The agent and its card. */
export const agent: AgentOptions = {
  name: 'Refunds',
  description: 'Refunds an amount, such as "Refund 50 euros".',
  skills: [{ id: 'refund', name: 'Refund', description: 'Pays back.', tags: ['money'], examples: ['Refund 50 euros'] }],
  agent: langGraphAgent({
    graph,
    input: ({ text }) => ({ request: text }),
    output: (state) => (state as { receipt: string }).receipt,
  }),
};
`;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAllProtocolInvariants, runAgent, testAgent } from 'parley-a2a-testing';
import { agent } from './agent.ts';

test('pays a small refund', async () => {
  const run = await runAgent(agent, 'Refund 5 euros');
  assert.equal(run.text, '5 euros are on their way.');
  assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
});

test('asks before a large one', async () => {
  const tested = await testAgent(agent);
  const asked = await tested.send('Refund 50 euros');
  assert(asked.task !== undefined);
  assert.equal(asked.task.status.state, 'TASK_STATE_INPUT_REQUIRED');
  const answer = await tested.send({ message: { taskId: asked.task.id, parts: [{ text: 'no' }] } });
  assert(answer.task !== undefined);
  assert.deepEqual(answer.task.artifacts?.[0]?.parts, [{ text: 'Nothing is paid.' }]);
  await tested.close();
});
`;

/** A graph that asks before it acts. */
export const langgraph: AgentPart = {
  summary: 'A graph of LangGraph that asks before it acts.',
  message: 'Refund 50 euros',
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
  packages: ['parley-a2a-langgraph'],
  dependencies: { '@langchain/core': '^1.4.0', '@langchain/langgraph': '^1.7.0' },
};
