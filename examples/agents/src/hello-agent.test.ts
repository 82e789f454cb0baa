import { assertAllProtocolInvariants, runAgent } from 'parley-a2a-testing';
import { expect, it } from 'vitest';
import { helloAgent } from './hello-agent.js';

it('greets with the quoted text, as an artifact and as the closing status', async () => {
  const greeting = 'Hello, World! You said: "good morning"';
  const { task, events } = await runAgent(helloAgent(), 'good morning');
  assertAllProtocolInvariants(events, { finalState: 'TASK_STATE_COMPLETED' });
  expect(task?.artifacts).toMatchObject([{ artifactId: 'hello_world_result', parts: [{ text: greeting }] }]);
  expect(task?.status.message?.parts).toEqual([{ text: greeting }]);
});
