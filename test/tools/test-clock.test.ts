import type { SendMessageResponse, Task } from 'parley-a2a';
import { answerApprovals, defineTool, jsonSchema, ToolRegistry, toolAgent, toolCalls } from 'parley-a2a/tools';
import { TestClock, testAgent } from 'parley-a2a-testing';
import { expect, it, onTestFinished } from 'vitest';

const input = jsonSchema<Record<string, never>>({ type: 'object' });

function taskOf(answer: SendMessageResponse): Task {
  if (answer.task === undefined) throw new Error('no task');
  return answer.task;
}

/** An agent that calls one tool, on a clock that stands still. */
async function testTool(tool: Parameters<typeof defineTool>[0]) {
  const clock = new TestClock();
  const registry = new ToolRegistry([defineTool(tool)]);
  const agent = toolAgent(registry, async (run, { events }) => {
    await run.call(tool.name, {});
    await events.complete();
  });
  const served = await testAgent(agent, { clock });
  onTestFinished(() => served.close());
  return served;
}

it('a tool ends at its timeout by the clock of the test', async () => {
  const run = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const served = await testTool({ name: 'slow', description: 'Never ends', input, timeoutMs: 600_000, run });
  const events = served.collect('Go');
  await events.waitForState('TASK_STATE_WORKING');
  await served.advance(599_999);
  expect(events.states).not.toContain('TASK_STATE_FAILED');
  await served.advance(1);
  const final = await events.waitForFinal();
  expect(final).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_FAILED' } } });
});

it.each([
  [86_400_000, 1, 'succeeded'],
  [86_400_001, 0, 'refused'],
])('an approval after %i ms by the clock of the test leads to %i runs', async (ms, times, state) => {
  let runs = 0;
  const run = () => void runs++;
  const served = await testTool({ name: 'pay', description: 'Pays', input, needsApproval: true, run });
  const task = taskOf(await served.send('Go'));
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await served.advance(ms);
  const { parts } = answerApprovals(task, 'approve');
  const answer = await served.send({ message: { taskId: task.id, contextId: task.contextId ?? '', parts } });
  expect(runs).toBe(times);
  expect(toolCalls(taskOf(answer))).toMatchObject([{ state }]);
});
