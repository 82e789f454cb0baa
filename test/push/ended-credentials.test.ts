import { connect } from 'parley-a2a';
import { ApiKeys, userId } from 'parley-a2a/auth';
import { inProcess } from 'parley-a2a/server';
import { expect, it } from 'vitest';
import { pushServer, sendParams } from './push-server.js';
import { Receiver } from './receiver.js';

const OLD = 'old-key-of-ada-0123456789';
const NEW = 'new-key-of-ada-0123456789';

it('a configuration is its owner’s: it outlives the key that made it, and the operator can delete it', async () => {
  await using receiver = await Receiver.open();
  const keyOf = (key: string) => ({ key, subject: 'ada' });
  const authenticator = new ApiKeys([keyOf(OLD), keyOf(NEW)]);
  await using agent = await pushServer({ authenticator });
  const withKey = (key: string) => ({ 'x-api-key': key });
  const configuration = { taskPushNotificationConfig: { id: 'hook', url: receiver.url } };
  const { result } = await agent.call('SendMessage', { ...sendParams('wait'), configuration }, '1.0', withKey(OLD));
  const taskId = (result as unknown as { task: { id: string } }).task.id;
  await receiver.has((received) => received.some(({ text }) => text.includes('INPUT_REQUIRED')));

  await authenticator.replace([keyOf(NEW)]);
  const refused = await agent.call('GetTask', { id: taskId }, '1.0', withKey(OLD));
  expect(refused.error).toBeDefined();
  await agent.call('SendMessage', sendParams('wait again', { taskId }), '1.0', withKey(NEW));
  await receiver.has((received) => received.filter(({ text }) => text.includes('INPUT_REQUIRED')).length === 2);

  const ada = await connect(inProcess(agent.server, { user: { id: userId('apikey', 'ada') } }));
  await ada.deleteTaskPushNotificationConfig({ taskId, id: 'hook' });
  const before = receiver.received.length;
  await agent.call('SendMessage', sendParams('go', { taskId }), '1.0', withKey(NEW));
  expect((await agent.server.deliveries.list()).queues).toEqual([]);
  expect(receiver.received).toHaveLength(before);
});
