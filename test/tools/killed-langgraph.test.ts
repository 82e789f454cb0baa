import { connect, textOf } from 'parley-a2a';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { KilledServer } from './killed-server.js';

let checkpoints: PostgresServer;
let server: KilledServer;
beforeAll(async () => {
  checkpoints = await PostgresServer.start();
  server = await KilledServer.of('killed-langgraph-server.mjs', [checkpoints.url]);
}, 60_000);
afterAll(async () => {
  await server.remove();
  await checkpoints[Symbol.asyncDispose]();
});

it('a graph that asked goes on after SIGKILL in another process, and no node that had ended runs again', async () => {
  const url = await server.start();
  const asked = await (await connect(url)).ask('A seat');
  if (asked.task === undefined) throw new Error('no task');
  expect(asked.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(asked.task.status.message?.parts[0]).toEqual({ text: 'Pay for 12A?' });
  await server.kill();

  const again = await connect(await server.start());
  const message = { taskId: asked.task.id, parts: [{ text: 'yes' }] };
  const done = await again.ask({ message });
  if (done.task === undefined) throw new Error('no task');
  expect([done.task.status.state, textOf(done.task)]).toEqual(['TASK_STATE_COMPLETED', '12A: yes']);
  expect(await server.runs()).toEqual(['reserve', 'pay']);
}, 90_000);
