import { expect, it } from 'vitest';
import type { Task } from '../model/task.js';
import { HandedTask } from './handed-task.js';
import { ShapedTask } from './shaped-task.js';

const whole: Task = {
  id: 't',
  contextId: 'c',
  status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00Z' },
  artifacts: [{ artifactId: 'a', parts: [{ data: { deep: [1, {}] } }] }],
  history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }],
  metadata: JSON.parse('{"k":[1],"__proto__":{"l":2}}') as NonNullable<Task['metadata']>,
};
const copy = () => JSON.parse(JSON.stringify(whole)) as Task;
const origin = () => new ShapedTask(copy() as ConstructorParameters<typeof ShapedTask>[0]);
const changeable = (task: Task) => task as { -readonly [Name in keyof Task]?: Task[Name] } & { other?: number };

it('is the task, however it is looked at', () => {
  const createHandedTask = () => new HandedTask(origin());
  expect(createHandedTask()).toEqual(whole);
  expect({ ...createHandedTask() }).toEqual(whole);
  expect(JSON.parse(JSON.stringify({ ...createHandedTask() }))).toEqual(whole);
  expect(Object.keys(createHandedTask())).toEqual(Object.keys(whole));
  expect(JSON.stringify(createHandedTask())).toBe(JSON.stringify(whole));
  expect(HandedTask.textOf(createHandedTask())).toBe(JSON.stringify(whole));
  expect(HandedTask.textOf(whole)).toBe(JSON.stringify(whole));
});

it('copies a member once, when it is first read', () => {
  const task = origin();
  const handed = new HandedTask(task);
  expect(handed.history).not.toBe(task.history);
  expect(handed.history).toBe(handed.history);
  expect(handed.history?.[0]?.parts[0]).not.toBe(task.history?.[0]?.parts[0]);
});

it.each<[string, (task: ReturnType<typeof changeable>) => void]>([
  ['a member of a member', (task) => Reflect.set(task.status ?? {}, 'state', 'TASK_STATE_FAILED')],
  ['a list', (task) => (task.history as unknown[]).push({ messageId: 'n', role: 'ROLE_USER', parts: [{ text: 'y' }] })],
  ['a whole member', (task) => Object.assign(task, { metadata: { other: true } })],
  ['a short member', (task) => Object.assign(task, { id: 'u' })],
  ['a member that is absent then', (task) => delete task.artifacts],
  ['a member that goes and comes again', (task) => delete task.artifacts && Object.assign(task, { artifacts: [] })],
  ['a member that is undefined then', (task) => Object.assign(task, { history: undefined })],
  ['a member that is new', (task) => Object.assign(task, { other: 1 })],
])('may have changed %s: its text says so, and its origin says nothing of it', (_name, change) => {
  const task = origin();
  const handed = changeable(new HandedTask(task));
  const plain = changeable(copy());
  change(handed);
  change(plain);
  expect(HandedTask.textOf(handed as Task)).toBe(JSON.stringify(plain));
  expect(task).toEqual(origin());
});
