import { connect, type Task } from 'parley-a2a';
import { answerApprovals, toolApprovals, toolCalls } from 'parley-a2a/tools';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { KilledServer } from './killed-server.js';

let server: KilledServer;
beforeAll(async () => {
  server = await KilledServer.of('killed-server.mjs');
});
afterAll(() => server.remove());

const answer = (task: Task) =>
  (task.status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join();

it('a finished call is not run again after SIGKILL, nor a running one that is not idempotent', async () => {
  const url = await server.start();
  const client = await connect(url);
  const started = await client.sendMessage({
    message: 'repeatable charge',
    configuration: { returnImmediately: true },
  });
  if (!('task' in started)) throw new Error('no task');
  const asked = await client.sendAndWait('paid');
  if (!('task' in asked)) throw new Error('no task');
  expect(toolApprovals(asked.task)).toMatchObject([{ tool: 'paid', input: 'two' }]);
  const before = ['charge 1.3', 'quick 1.1', 'quick 1.1', 'repeatable 1.2'];
  await vi.waitFor(async () => expect([...(await server.runs())].sort()).toEqual(before), { timeout: 15_000 });
  await server.kill();

  const port = new URL(url).port;
  const again = await connect(await server.start(port));
  await vi.waitFor(
    async () => {
      const task = await again.getTask(started.task.id);
      expect([task.status.state, answer(task)]).toEqual([
        'TASK_STATE_COMPLETED',
        'quick of one, repeatable of two, interrupted',
      ]);
      const states = toolCalls(task).map(({ tool, state }) => `${tool} ${state}`);
      expect(states.sort()).toEqual(['charge failed', 'quick succeeded', 'repeatable succeeded']);
    },
    { timeout: 30_000, interval: 100 },
  );
  // The question has survived. Its answer runs the call, and no other one.
  const done = await again.sendAndWait({ message: answerApprovals(await again.getTask(asked.task.id), 'approve') });
  if (!('task' in done)) throw new Error('no task');
  expect(answer(done.task)).toBe('quick of one, quick of two');
  expect([...(await server.runs())].sort()).toEqual([...before, 'quick 1.2', 'repeatable 1.2'].sort());
  await server.kill();
}, 90_000);
