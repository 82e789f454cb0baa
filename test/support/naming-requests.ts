import { randomUUID } from 'node:crypto';
import type { OperationName, OperationTypes } from '../../packages/parley/src/operations/operations.js';

/** The ids of a task, as a request may name them. */
export interface NamedTask {
  readonly id: string;
  readonly contextId: string;
}

/** Makes a request that names a task, the context of a task, or a task as a reference. */
export type Naming = (named: NamedTask) => OperationTypes[OperationName]['request'];

/** The places of a request that can name something of a caller. A webhook is named with its task. */
export type NamedPlace = 'task' | 'context' | 'reference';

/** A message from a caller. */
export function newUserMessage(text: string, over: object = {}) {
  return { messageId: randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }], ...over };
}

const message = {
  task: ({ id }: NamedTask) => ({ message: newUserMessage('done', { taskId: id }) }),
  context: ({ contextId }: NamedTask) => ({ message: newUserMessage('done', { contextId }) }),
  reference: ({ id }: NamedTask) => ({ message: newUserMessage('done', { referenceTaskIds: [id] }) }),
};
const webhook = ({ id }: NamedTask) => ({ taskId: id, id: 'c1' });
const task = ({ id }: NamedTask) => ({ id });

/** The requests of each operation that name a task, a context or a webhook. The card is of all callers. */
export const NAMING: Readonly<Record<OperationName, Readonly<Partial<Record<NamedPlace, Naming>>>>> = {
  sendMessage: message,
  sendStreamingMessage: message,
  getTask: { task },
  listTasks: { context: ({ contextId }) => ({ contextId }) },
  cancelTask: { task },
  subscribeToTask: { task },
  createTaskPushNotificationConfig: { task: (named) => ({ ...webhook(named), url: 'https://hooks.example/a' }) },
  getTaskPushNotificationConfig: { task: webhook },
  listTaskPushNotificationConfigs: { task: ({ id }) => ({ taskId: id }) },
  deleteTaskPushNotificationConfig: { task: webhook },
  getExtendedAgentCard: {},
};
