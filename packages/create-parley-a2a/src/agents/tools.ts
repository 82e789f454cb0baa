import type { AgentPart } from '../part.js';

const AGENT = `import type { AgentOptions } from 'parley-a2a/server';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';

/** The owner of the task must approve more than 10 euros. Schemas of Zod and others work as well. */
export const refund = defineTool({
  name: 'refund',
  description: 'Pays an amount back.',
  input: jsonSchema<{ euros: number }>({
    type: 'object',
    properties: { euros: { type: 'number', minimum: 0 } },
    required: ['euros'],
  }),
  output: jsonSchema<string>({ type: 'string' }),
  needsApproval: ({ euros }) => euros > 10,
  run: ({ euros }) => \`\${euros} euros are on their way.\`,
});

const tools = new ToolRegistry([refund]);

/** The agent and its card. Finished calls do not run again, even if the process dies. */
export const agent: AgentOptions = {
  name: 'Refunds',
  description: 'Refunds an amount, such as "Refund 50 euros".',
  skills: [{ id: 'refund', name: 'Refund', description: 'Pays back.', tags: ['money'], examples: ['Refund 50 euros'] }],
  agent: toolAgent(tools, async (run, { events }) => {
    const [euros] = /\\d+/.exec(run.text) ?? [];
    if (euros === undefined) return events.reject('Name an amount, such as "Refund 50 euros".');
    const receipt = await run.call(refund, { euros: Number(euros) });
    await events.complete(receipt);
  }),
};
`;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { answerApprovals, toolApprovals, toolEventsOf } from 'parley-a2a/tools';
import { assertAllProtocolInvariants, assertTaskFinalState, assertToolLifecycle, testAgent } from 'parley-a2a-testing';
import { agent } from './agent.ts';

test('pays a small refund', async () => {
  const tested = await testAgent(agent);
  const events = tested.collect('Refund 5 euros');
  await events.waitForEnd();
  assertAllProtocolInvariants(events, { finalState: 'TASK_STATE_COMPLETED' });
  assertToolLifecycle(events.events.flatMap(toolEventsOf), { only: 'refund', ends: 'succeeded' });
  await tested.close();
});

for (const [decision, state] of [
  ['approve', 'TASK_STATE_COMPLETED'],
  ['refuse', 'TASK_STATE_FAILED'],
] as const) {
  test(\`asks before a large one: \${decision}\`, async () => {
    const tested = await testAgent(agent);
    const asked = await tested.send('Refund 50 euros');
    assert(asked.task !== undefined);
    const [call] = toolApprovals(asked.task);
    assert.deepEqual(call?.input, { euros: 50 });
    const answer = await tested.send({ message: answerApprovals(asked.task, decision) });
    assert(answer.task !== undefined);
    assertTaskFinalState(answer.task, state);
    await tested.close();
  });
}
`;

/** A tool that asks its caller before it runs. */
export const tools: AgentPart = {
  summary: 'A tool that asks the caller before it runs.',
  message: 'Refund 50 euros',
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
