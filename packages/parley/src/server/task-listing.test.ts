import { expect, it } from 'vitest';
import { connect } from '../exports/client.js';
import { createAgentHandler } from '../exports/server.js';

it('a list after a time compares its parts below a millisecond too (Spec §3.1.4)', async () => {
  const handler = createAgentHandler({ agent: { execute: (_, events) => events.complete('done') } });
  const client = await connect(handler);
  const answer = await client.sendMessage('hello');
  const time = answer.task?.status.timestamp || '';
  const countTasks = async (statusTimestampAfter: string) =>
    (await client.listTasks({ statusTimestampAfter })).tasks.length;
  expect(await countTasks(time)).toBe(1);
  expect(await countTasks(time.replace('Z', '000000Z'))).toBe(1);
  expect(await countTasks(time.replace('Z', '001Z'))).toBe(0);
  expect(await countTasks(time.replace('Z', '000001Z'))).toBe(0);
  await client.close();
  await handler.close();
});
