import { describe, expect, test } from 'vitest';
import type { Task } from '../../model/task.js';
import { OPERATIONS } from '../../operations/operations.js';
import { LogRecord } from '../../task/log-record.js';
import { v1_0 } from './wire-codec.js';

const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };

describe('the names of version 1.0', () => {
  test('each operation has one method, named as the operation in upper camel case', () => {
    const names = Object.keys(OPERATIONS).map((name) => [name.charAt(0).toUpperCase() + name.slice(1), name]);
    const alias = ['SetPushNotificationConfig', 'createTaskPushNotificationConfig'];
    expect([...v1_0.methods].sort()).toEqual([...names, alias].sort());
  });

  test('the routes are those of the protocol definition', () => {
    const routes = v1_0.routes.map(
      ({ operation, method, path, body }) => `${operation} ${method} /${path.join('/')} ${body}`,
    );
    expect(routes.sort()).toEqual([
      'cancelTask POST /tasks/{id}:cancel optional',
      'createTaskPushNotificationConfig POST /tasks/{taskId}/pushNotificationConfigs required',
      'deleteTaskPushNotificationConfig DELETE /tasks/{taskId}/pushNotificationConfigs/{id} none',
      'getExtendedAgentCard GET /extendedAgentCard none',
      'getTask GET /tasks/{id} none',
      'getTaskPushNotificationConfig GET /tasks/{taskId}/pushNotificationConfigs/{id} none',
      'listTaskPushNotificationConfigs GET /tasks/{taskId}/pushNotificationConfigs none',
      'listTasks GET /tasks none',
      'sendMessage POST /message:send required',
      'sendStreamingMessage POST /message:stream required',
      'subscribeToTask GET /tasks/{id}:subscribe none',
      'subscribeToTask POST /tasks/{id}:subscribe optional',
    ]);
  });
});

describe('encoding an answer of version 1.0', () => {
  test('Spec §3.1.4: a page has all four members, also when they say nothing', () => {
    const page = { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 };
    expect(JSON.parse(v1_0.encode('listTasks', page))).toStrictEqual(page);
  });

  test('deleting answers an empty object', () => {
    expect(v1_0.encode('deleteTaskPushNotificationConfig', undefined)).toBe('{}');
  });

  test('a task is bare, the answer to a message is wrapped', () => {
    expect(JSON.parse(v1_0.encode('getTask', task))).toStrictEqual(task);
    expect(JSON.parse(v1_0.encode('sendMessage', { task }))).toStrictEqual({ task });
  });

  test('the capabilities of a card are written as given', () => {
    const card = {
      name: 'A',
      description: '',
      supportedInterfaces: [],
      version: '1',
      capabilities: { streaming: false, extendedAgentCard: true },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    expect(JSON.parse(v1_0.encodeCard(card))).toStrictEqual(card);
    expect(v1_0.encode('getExtendedAgentCard', card)).toBe(v1_0.encodeCard(card));
  });

  test('an event is written once and its text is shared', () => {
    expect(v1_0.encodeEvent({ event: { task } })).toBe(JSON.stringify({ task }));
    expect(v1_0.encodeEvent(new LogRecord(1, 1, '{"statusUpdate":0}'))).toBe('{"statusUpdate":0}');
  });
});
