import type { Artifact } from '../../model/artifact.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';

/** Returns the part for the place of a part: another one, or the same one to change nothing. */
export type MapPart = (part: Part) => Part | Promise<Part>;

/** Puts other parts in the place of those of a message. A message without changes stays the same object. */
export async function mappedMessage<M extends Pick<Message, 'parts'>>(message: M, map: MapPart): Promise<M> {
  const parts = await mappedList(message.parts, map);
  return parts === message.parts ? message : { ...message, parts };
}

/** The same for all messages and artifacts of a task. */
export async function mappedTask(task: Task, map: MapPart): Promise<Task> {
  const artifacts = task.artifacts && (await mappedList(task.artifacts, (one: Artifact) => mappedMessage(one, map)));
  const history = task.history && (await mappedList(task.history, (one) => mappedMessage(one, map)));
  const message = task.status.message && (await mappedMessage(task.status.message, map));
  if (artifacts === task.artifacts && history === task.history && message === task.status.message) return task;
  return {
    ...task,
    ...(artifacts && { artifacts }),
    ...(history && { history }),
    ...(message && { status: { ...task.status, message } }),
  };
}

/** The same for an event or an answer with its form. */
export async function mappedEvent(event: StreamResponse, map: MapPart): Promise<StreamResponse> {
  if (event.task !== undefined) {
    const task = await mappedTask(event.task, map);
    return task === event.task ? event : { task };
  }
  if (event.message !== undefined) {
    const message = await mappedMessage(event.message, map);
    return message === event.message ? event : { message };
  }
  if (event.artifactUpdate !== undefined) {
    const { artifact } = event.artifactUpdate;
    const mapped = await mappedMessage(artifact, map);
    return mapped === artifact ? event : { artifactUpdate: { ...event.artifactUpdate, artifact: mapped } };
  }
  const { status } = event.statusUpdate;
  const message = status.message && (await mappedMessage(status.message, map));
  if (message === undefined || message === status.message) return event;
  return { statusUpdate: { ...event.statusUpdate, status: { ...status, message } } };
}

/**
 * Maps the items of a list one after another, because each may hold a file. Returns the same list if no item changes.
 */
export async function mappedList<Item>(
  list: readonly Item[],
  map: (item: Item) => Item | Promise<Item>,
): Promise<readonly Item[]> {
  let mapped: Item[] | undefined;
  for (const [at, item] of list.entries()) {
    const other = await map(item);
    if (other === item) continue;
    mapped ??= [...list];
    mapped[at] = other;
  }
  return mapped ?? list;
}
