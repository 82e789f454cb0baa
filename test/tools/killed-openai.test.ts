import { connect, type Task, textOf } from 'parley-a2a';
import { answerApprovals, toolApprovals } from 'parley-a2a/tools';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { KilledServer } from './killed-server.js';

let server: KilledServer;
beforeAll(async () => {
  server = await KilledServer.of('killed-openai-server.mjs');
});
afterAll(() => server.remove());

it('a run of the OpenAI Agents SDK goes on after SIGKILL, and no tool of an ended step runs again', async () => {
  const url = await server.start();
  const client = await connect(url);
  const asked = await client.sendAndWait('Tickets');
  if (!('task' in asked)) throw new Error('no task');
  expect(toolApprovals(asked.task)).toMatchObject([{ callId: 'c2', tool: 'pay' }]);
  const configuration = { returnImmediately: true };
  await client.sendMessage({ message: answerApprovals(asked.task, 'approve'), configuration });
  const before = ['reserve', 'pay', 'print'];
  await vi.waitFor(async () => expect(await server.runs()).toEqual(before), { timeout: 15_000 });
  await server.kill();

  const again = await connect(await server.start(new URL(url).port));
  const done = await vi.waitFor(
    async (): Promise<Task> => {
      const task = await again.getTask(asked.task.id);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      return task;
    },
    { timeout: 30_000, interval: 100 },
  );
  // The step that was under way has run again, and its lost text is gone.
  expect(await server.runs()).toEqual([...before, 'print']);
  expect(done.artifacts?.map((artifact) => textOf(artifact))).toEqual(['One.\n\nTwo.', 'Three.\n\nDone.']);
}, 90_000);
