import { expect, it } from 'vitest';
import { requireMembers } from './request-members.js';

it('a misspelt member is refused with its name', () => {
  expect(() => requireMembers('GetTaskRequest', { id: 't', histroyLength: 1 })).toThrow(
    'not histroyLength (did you mean "historyLength"?)',
  );
  expect(() => requireMembers('ListTasksRequest', { everything: true })).toThrow('not everything');
  expect(() => requireMembers('CancelTaskRequest', 7)).toThrow('not a number');
});

it('a whole task or configuration names its ids', () => {
  const task = {
    id: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_WORKING' },
    history: [],
    artifacts: [],
    metadata: {},
  };
  const config = { taskId: 't', id: 'c', url: 'https://hook.example', token: 'x', authentication: { scheme: 'Basic' } };
  for (const name of ['GetTaskRequest', 'CancelTaskRequest', 'SubscribeToTaskRequest'] as const)
    expect(() => requireMembers(name, task)).not.toThrow();
  for (const name of ['GetTaskPushNotificationConfigRequest', 'DeleteTaskPushNotificationConfigRequest'] as const)
    expect(() => requireMembers(name, config)).not.toThrow();
  expect(() => requireMembers('ListTaskPushNotificationConfigsRequest', config)).not.toThrow();
});
