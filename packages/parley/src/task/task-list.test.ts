import { describe, expect, it } from 'vitest';
import type { Task } from '../model/task.js';
import { ShapedTask } from './shaped-task.js';
import { TaskList } from './task-list.js';

const CURSOR = { nextPageToken: '', pageSize: 50, totalSize: 1 };

function messages(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    messageId: `m${at}`,
    role: 'ROLE_USER' as const,
    parts: [{ text: 'hello "messageId": world' }],
    metadata: at === 0 ? { messageId: 'a' } : {},
  }));
}

/** A page of one task as text. `read`: number of times that its tasks were read. */
function pageOf(task: Task) {
  const counts = { read: 0 };
  const page = {
    get tasks() {
      counts.read += 1;
      return [{ task }];
    },
    texts: [{ id: task.id, contextId: task.contextId, ...ShapedTask.textsOf(task) }],
  };
  return { page, counts };
}

describe('a list of tasks that the storage has as text', () => {
  const task = (count: number): Task => ({
    id: 't"1',
    contextId: 'c',
    status: { state: 'TASK_STATE_COMPLETED' },
    history: messages(count),
    metadata: { a: 1 },
  });

  it('is written without parsing a task', () => {
    const { page, counts } = pageOf(task(3));
    const list = new TaskList(page, { historyLength: 10, includeArtifacts: false }, CURSOR);
    expect(TaskList.textsOf(list).map((text) => JSON.parse(text))).toEqual([task(3)]);
    expect(counts.read).toBe(0);
  });

  it.each([0, 1, 2, 3, 4])('shows no more than %i messages', (historyLength) => {
    const { page } = pageOf(task(3));
    const list = new TaskList(page, { historyLength, includeArtifacts: false }, CURSOR);
    const [text = ''] = TaskList.textsOf(list);
    expect(JSON.parse(text)).toEqual(list.tasks[0]);
    expect(list.tasks[0]?.history?.length ?? 0).toBe(Math.min(3, historyLength));
  });

  it.each([0, 1, 3])('comes from tasks with their own texts too, with at most %i messages', (historyLength) => {
    const artifacts = [{ artifactId: 'a', parts: [{ text: 'x' }] }];
    const unread = (over: Partial<Task> = {}) => {
      const { id, contextId, ...members } = { ...task(2), ...over };
      return ShapedTask.unread({ id, contextId, ...ShapedTask.textsOf({ id, ...members }) });
    };
    for (const includeArtifacts of [false, true]) {
      const page = {
        tasks: [{ task: unread() }, { task: unread({ artifacts }) }, { task: { ...task(1), artifacts } }],
      };
      const list = new TaskList(page, { historyLength, includeArtifacts }, CURSOR);
      const texts = TaskList.textsOf(list).map((text) => JSON.parse(text));
      expect(texts).toEqual(list.tasks.map((each) => ({ ...each })));
      expect(texts.map((each) => 'artifacts' in each)).toEqual([false, includeArtifacts, includeArtifacts]);
      expect(texts.map(({ history = [] }) => history.length)).toEqual([2, 2, 1].map((n) => Math.min(n, historyLength)));
    }
  });

  it('is copied and printed like a plain object', () => {
    const { page } = pageOf(task(1));
    const list = new TaskList(page, { historyLength: 10, includeArtifacts: false }, CURSOR);
    expect({ ...list }).toEqual({ tasks: [task(1)], ...CURSOR });
    expect(JSON.parse(JSON.stringify(list))).toEqual({ tasks: [task(1)], ...CURSOR });
    expect(TaskList.textsOf({ ...list, tasks: [] })).toEqual([]);
  });
});
