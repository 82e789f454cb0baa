import { connect, type Task } from 'parley-a2a';
import { answerApprovals, toolApprovals, toolCalls } from 'parley-a2a/tools';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { KilledServer } from './killed-server.js';

let server: KilledServer;
beforeAll(async () => {
  server = await KilledServer.of('killed-server.mjs');
});
afterAll(() => server.remove());

const answer = (task: Task) =>
  (task.status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join();

it('a finished call is not run again after SIGKILL, nor a running one that is not idempotent', async () => {
  const url = await server.start();
  const client = await connect(url);
  const started = await client.sendMessage({
    message: 'repeatable charge',
    configuration: { returnImmediately: true },
  });
  if (started.task === undefined) throw new Error('no task');
  const asked = await client.ask('paid');
  if (asked.task === undefined) throw new Error('no task');
  expect(toolApprovals(asked.task)).toMatchObject([{ tool: 'paid', input: 'two' }]);
  const before = ['charge 1.3', 'quick 1.1', 'quick 1.1', 'repeatable 1.2'];
  await vi.waitFor(async () => expect([...(await server.runs())].sort()).toEqual(before), { timeout: 15_000 });
  await server.kill();

  const again = await connect(await server.start());
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
  const done = await again.ask({ message: answerApprovals(await again.getTask(asked.task.id), 'approve') });
  if (done.task === undefined) throw new Error('no task');
  expect(answer(done.task)).toBe('quick of one, quick of two');
  expect([...(await server.runs())].sort()).toEqual([...before, 'quick 1.2', 'repeatable 1.2'].sort());
  await server.kill();
}, 90_000);

it.each([
  ['whose turn runs again', []],
  ['that cannot go on', ['once']],
] as const)('no call of a task %s is open after SIGKILL and CancelTask', { timeout: 60_000 }, async (_, further) => {
  const killed = await KilledServer.of('killed-server.mjs', further);
  onTestFinished(() => killed.remove());
  const url = await killed.start();
  const client = await connect(url);
  const started = await client.sendMessage({ message: 'charge endless', configuration: { returnImmediately: true } });
  const waits = await client.ask('paid');
  if (!(started.task !== undefined && waits.task !== undefined)) throw new Error('no task');
  const states = (task: Task) =>
    toolCalls(task)
      .map((call) => `${call.tool} ${call.state}`)
      .sort();
  const running = ['charge running', 'endless running', 'quick succeeded'];
  await vi.waitFor(async () => expect(states(await client.getTask(started.task.id))).toEqual(running), {
    timeout: 15_000,
  });
  await killed.kill();

  const again = await connect(await killed.start());
  // The turn may have ended already, since its agent cannot go on.
  await again.cancelTask(started.task.id).catch(() => {});
  const [charge, ...others] = states(await again.getTask(started.task.id));
  expect(others).toEqual(['endless canceled', 'quick succeeded']);
  // The turn that runs again may have found out already that this call was interrupted.
  expect(['charge canceled', 'charge failed']).toContain(charge);
  const closed = await again.cancelTask(waits.task.id);
  expect([states(closed), toolApprovals(closed)]).toEqual([['paid canceled', 'quick succeeded'], []]);
  await killed.kill();
});
