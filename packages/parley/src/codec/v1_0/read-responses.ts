import { InvalidAgentResponseError } from '../../errors/spec-errors.js';
import type { AgentCard } from '../../model/agent-card.js';
import { isObject } from '../../model/json.js';
import type {
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../../model/push-notification-config.js';
import type { SendMessageResponse, StreamResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { ListTasksResponse } from '../../model/task-requests.js';
import type { ModelTypes } from '../../model/validation.js';
import type { OPERATIONS, OperationName } from '../../operations/operations.js';

/** Checks the answer to SendMessage. */
function readAnswer(value: unknown): SendMessageResponse {
  const answer = members(value, 'result');
  if (isThere(answer.task)) checkTask(answer.task, 'task');
  else if (isThere(answer.message)) checkMessage(answer.message, 'message');
  else throw wrong('the task or message', undefined, 'an object');
  return answer as unknown as SendMessageResponse;
}

/** Checks a task. */
function readTask(value: unknown): Task {
  checkTask(value, 'task');
  return value as Task;
}

/** Checks a page of tasks and adds the members that the agent left out. */
function readTaskPage(value: unknown): ListTasksResponse {
  const page = members(value, 'result');
  checkList(page, 'tasks', 'result', checkTask);
  return Object.assign(page, {
    tasks: page.tasks ?? [],
    nextPageToken: page.nextPageToken ?? '',
    pageSize: page.pageSize ?? 0,
    totalSize: page.totalSize ?? 0,
  }) as unknown as ListTasksResponse;
}

/** Checks the configuration of a webhook. */
function readConfig(value: unknown): TaskPushNotificationConfig {
  checkText(members(value, 'configuration'), 'url', 'configuration');
  return value as TaskPushNotificationConfig;
}

/** Checks a page of configurations and adds the members that the agent left out. */
function readConfigPage(value: unknown): ListTaskPushNotificationConfigsResponse {
  const page = members(value, 'result');
  checkList(page, 'configs', 'result', members);
  const read = { configs: page.configs ?? [], nextPageToken: page.nextPageToken ?? '' };
  return Object.assign(page, read) as unknown as ListTaskPushNotificationConfigsResponse;
}

/** Checks one event of a stream; undefined: an unknown kind of event. */
export function readEvent(value: unknown): StreamResponse | undefined {
  const event = members(value, 'event');
  if (isThere(event.artifactUpdate)) {
    const update = members(event.artifactUpdate, 'artifactUpdate');
    checkText(update, 'taskId', 'artifactUpdate');
    checkArtifact(update.artifact, 'artifactUpdate.artifact');
  } else if (isThere(event.statusUpdate)) {
    const update = members(event.statusUpdate, 'statusUpdate');
    checkText(update, 'taskId', 'statusUpdate');
    checkStatus(update.status, 'statusUpdate.status');
  } else if (isThere(event.task)) checkTask(event.task, 'task');
  else if (isThere(event.message)) checkMessage(event.message, 'message');
  else return undefined;
  return event as unknown as StreamResponse;
}

/** Checks that a card is an object. It stays as received, until its signatures are checked and it is read. */
function readCard(value: unknown): AgentCard {
  return members(value, 'card') as unknown as AgentCard;
}

/** `null` counts as absent (Spec §5.5). */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A received object before its members are checked. */
type Members = Record<string, unknown>;

/** The value as an object. Errors name it by `path`. */
function members(value: unknown, path: string): Members {
  if (isObject(value)) return value;
  throw wrong(path, value, 'an object');
}

/** Checks that a task has an id and a state, and that its lists are lists. */
function checkTask(value: unknown, path: string): void {
  const task = members(value, path);
  checkText(task, 'id', path);
  checkStatus(task.status, `${path}.status`);
  checkList(task, 'artifacts', path, checkArtifact);
  checkList(task, 'history', path, checkMessage);
}

/** Checks that a status has a state, of any name. */
function checkStatus(value: unknown, path: string): void {
  const status = members(value, path);
  checkText(status, 'state', path);
  if (status.message !== undefined && status.message !== null) checkMessage(status.message, `${path}.message`);
}

/** Checks that a message has an id and parts. */
function checkMessage(value: unknown, path: string): void {
  const message = members(value, path);
  checkText(message, 'messageId', path);
  checkParts(message, path);
}

/** Checks that an artifact has an id and parts. */
function checkArtifact(value: unknown, path: string): void {
  const artifact = members(value, path);
  checkText(artifact, 'artifactId', path);
  checkParts(artifact, path);
}

/** Checks each item of a list that may be absent. */
function checkList(owner: Members, name: string, path: string, check: (item: unknown, path: string) => void): void {
  const value = owner[name];
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) throw wrong(`${path}.${name}`, value, 'a list');
  for (let at = 0; at < value.length; at++) check(value[at], `${path}.${name}[${at}]`);
}

/** Checks that a member is a text and not empty. Only an error needs the path: this runs for every event. */
function checkText(owner: Members, name: string, path: string): void {
  const value = owner[name];
  if (typeof value !== 'string' || value === '') throw wrong(`${path}.${name}`, value, 'a text');
}

/** Checks the parts. ProtoJSON omits empty lists: an absent list is empty. */
function checkParts(owner: Members, path: string): void {
  const { parts } = owner;
  if (Array.isArray(parts) && parts.every(isObject)) return;
  if (parts === undefined || parts === null) owner.parts = [];
  else checkList(owner, 'parts', path, members);
}

/** The error for a value of another type than `wanted`. */
function wrong(path: string, value: unknown, wanted: string): InvalidAgentResponseError {
  const found = value === undefined ? 'is missing' : `is not ${wanted}`;
  return new InvalidAgentResponseError(`${path} ${found}`);
}

/** The responses and events of version 1.0. `RESPONSE_READERS` checks each of them. */
type ResponseType = NonNullable<(typeof OPERATIONS)[OperationName]['response']>;

/**
 * Check a received response or event; undefined: an unknown kind of event.
 * @throws InvalidAgentResponseError naming the fault.
 */
export const RESPONSE_READERS: { readonly [Type in ResponseType]: (value: unknown) => ModelTypes[Type] | undefined } = {
  SendMessageResponse: readAnswer,
  StreamResponse: readEvent,
  Task: readTask,
  ListTasksResponse: readTaskPage,
  TaskPushNotificationConfig: readConfig,
  ListTaskPushNotificationConfigsResponse: readConfigPage,
  AgentCard: readCard,
};
