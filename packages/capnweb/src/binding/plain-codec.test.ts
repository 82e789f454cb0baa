import type { Task } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { PLAIN_CODEC, PLAIN_EVENTS_CODEC } from './plain-codec.js';

const task = (state: Task['status']['state']): Task => ({
  id: 't',
  contextId: 'c',
  status: { state, timestamp: '2026-01-01T00:00:00.000Z' },
  artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
});
const artifactEvent = {
  type: 'artifact',
  taskId: 't',
  contextId: 'c',
  artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'x' }] },
  lastChunk: true,
};
const events = (event: Parameters<typeof PLAIN_CODEC.encodeEvent>[0]['event']) =>
  JSON.parse(PLAIN_CODEC.encodeEvent({ event }));

describe('the codec for plain arguments', () => {
  it('reads messages and writes tasks of 0.3, in whose form webhooks are told', () => {
    expect(PLAIN_CODEC.version).toBe('0.3');
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] };
    expect(PLAIN_CODEC.decode('sendMessage', { message })).toMatchObject({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
    });
    const written = JSON.parse(PLAIN_CODEC.encode('getTask', task('TASK_STATE_INPUT_REQUIRED')));
    expect(written).toMatchObject({ kind: 'task', status: { state: 'input-required' } });
  });

  it('reads the request of a list as in 1.0, and writes its tasks as in 0.3', () => {
    expect(PLAIN_CODEC.decode('listTasks', { pageSize: 3 })).toEqual({ pageSize: 3 });
    const page = { tasks: [task('TASK_STATE_WORKING')], nextPageToken: 'n', pageSize: 1, totalSize: 7 };
    expect(JSON.parse(PLAIN_CODEC.encode('listTasks', page))).toMatchObject({
      tasks: [{ kind: 'task', status: { state: 'working' } }],
      nextPageToken: 'n',
      totalSize: 7,
    });
  });

  it('writes changes as events for a callback, and marks only a final state', () => {
    const status = (state: Task['status']['state']) =>
      events({ statusUpdate: { taskId: 't', contextId: 'c', status: { state } } });
    expect(status('TASK_STATE_WORKING')).toEqual([
      { type: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } },
    ]);
    expect(status('TASK_STATE_CANCELED')).toMatchObject([{ status: { state: 'canceled' }, final: true }]);
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] };
    const update = { taskId: 't', contextId: 'c', artifact, append: true, lastChunk: false };
    expect(events({ artifactUpdate: update })).toMatchObject([{ type: 'artifact', append: true, lastChunk: false }]);
  });

  it('writes a task as its state and its artifacts, a final state last', () => {
    const names = (list: readonly { type: string }[]) => list.map(({ type }) => type);
    expect(names(events({ task: task('TASK_STATE_WORKING') }))).toEqual(['status', 'artifact']);
    const over = JSON.parse(PLAIN_EVENTS_CODEC.encode('getTask', task('TASK_STATE_COMPLETED')));
    expect(over).toMatchObject([artifactEvent, { type: 'status', final: true }]);
  });

  it('does not call a chunk the last while the task goes on', () => {
    const [, artifact] = events({ task: task('TASK_STATE_WORKING') });
    expect(artifact).toMatchObject({ type: 'artifact' });
    expect(artifact).not.toHaveProperty('lastChunk');
  });

  it('leaves a message as it is', () => {
    expect(events({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } })).toMatchObject([
      { kind: 'message', messageId: 'm' },
    ]);
  });
});
