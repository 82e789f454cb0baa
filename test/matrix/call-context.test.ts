import { describe, expect, it } from 'vitest';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';

describe('the context of a call names the task and the context of its request', () => {
  const message = { ...HELLO.message, taskId: 't1', contextId: 'c1' };
  it.each<[string, object, string, object | undefined, object]>([
    ['SendMessage', { message }, 'POST /message:send', { message }, { taskId: 't1', contextId: 'c1' }],
    ['SendStreamingMessage', { message }, 'POST /message:stream', { message }, { taskId: 't1', contextId: 'c1' }],
    ['SendMessage', HELLO, 'POST /message:send', HELLO, {}],
    ['GetTask', { id: 't1' }, 'GET /tasks/t1', undefined, { taskId: 't1' }],
    ['CancelTask', { id: 't1' }, 'POST /tasks/t1:cancel', {}, { taskId: 't1' }],
    ['SubscribeToTask', { id: 't1' }, 'GET /tasks/t1:subscribe', undefined, { taskId: 't1' }],
    ['ListTasks', { contextId: 'c1' }, 'GET /tasks?contextId=c1', undefined, { contextId: 'c1' }],
    [
      'GetTaskPushNotificationConfig',
      { taskId: 't1', id: 'p1' },
      'GET /tasks/t1/pushNotificationConfigs/p1',
      undefined,
      { taskId: 't1' },
    ],
  ])('%s %j', async (method, params, line, body, address) => {
    const agent = new BoundAgent();
    await agent.rpc(method, params);
    await agent.call(line, body === undefined ? {} : { body });
    const about = agent.handler.calls.map(({ context: { taskId, contextId } }) => ({ taskId, contextId }));
    const expected = { taskId: undefined, contextId: undefined, ...address };
    expect(about).toEqual([expected, expected]);
  });
});
