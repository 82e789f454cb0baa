import { expect, it } from 'vitest';
import { RESPONSE_READERS, readEvent } from './read-responses.js';

const status = { state: 'TASK_STATE_WORKING', message: { messageId: 'm', parts: [{ text: 'hi' }] } };
const artifact = { artifactId: 'a', parts: [{ text: 'hi' }] };
const task = { id: 't', status, artifacts: [artifact], history: [{ messageId: 'm', parts: [] }] };

it.each<[string, object]>([
  ['task is not an object', { task: 't' }],
  ['task.id is missing', { task: { status } }],
  ['task.status is missing', { task: { id: 't' } }],
  ['task.status.state is missing', { task: { id: 't', status: {} } }],
  ['task.status.state is not a text', { task: { id: 't', status: { state: 2 } } }],
  ['task.status.message.messageId is missing', { task: { id: 't', status: { ...status, message: { parts: [] } } } }],
  ['task.artifacts is not a list', { task: { ...task, artifacts: artifact } }],
  ['task.artifacts[1].artifactId is missing', { task: { ...task, artifacts: [artifact, { parts: [] }] } }],
  ['task.artifacts[0].parts[0] is not an object', { task: { ...task, artifacts: [{ ...artifact, parts: ['hi'] }] } }],
  ['task.history[0].messageId is not a text', { task: { ...task, history: [{ messageId: '' }] } }],
  ['message.parts is not a list', { message: { messageId: 'm', parts: 'hi' } }],
  ['statusUpdate.taskId is missing', { statusUpdate: { status } }],
  ['statusUpdate.status.state is missing', { statusUpdate: { taskId: 't', status: {} } }],
  ['artifactUpdate.taskId is missing', { artifactUpdate: { artifact } }],
  ['artifactUpdate.artifact is missing', { artifactUpdate: { taskId: 't' } }],
])('an event is refused: %s', (fault, event) => {
  expect(() => readEvent(event)).toThrow(fault);
});

it('lists that are absent, and events of a kind that is not known, are no fault (Spec §5.5)', () => {
  expect(readEvent({ task })).toEqual({ task });
  expect(readEvent({ task: { id: 't', status: { state: 'x', message: null }, artifacts: null } })).toBeDefined();
  expect(readEvent({ artifactUpdate: { taskId: 't', artifact: { artifactId: 'a' } } })).toMatchObject({
    artifactUpdate: { artifact: { parts: [] } },
  });
  expect(readEvent({ heartbeat: {} })).toBeUndefined();
  const page = { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  expect(RESPONSE_READERS.ListTasksResponse({})).toEqual(page);
});
