import type { Artifact } from '../model/artifact.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { TaskEvent } from '../model/stream-response.js';
import type { Task } from '../model/task.js';

const FRAME = 200;
/** Bytes of an event with a chunk that do not become a part of its task. */
export const CHUNK_FRAME = 2 * FRAME;
/** Approximate bytes of a number, a boolean or null. */
const PLAIN_BYTES = 6;

/** Approximate size of an event as JSON, without creating the JSON. For buffers and snapshots. */
export function eventBytes(event: TaskEvent): number {
  if (event.artifactUpdate !== undefined) {
    const { artifact, metadata } = event.artifactUpdate;
    return FRAME + artifactBytes(artifact) + metadataBytes(metadata);
  }
  if (event.statusUpdate !== undefined) {
    const { status, metadata } = event.statusUpdate;
    return FRAME + messageBytes(status.message) + metadataBytes(metadata);
  }
  return taskBytes(event.task);
}

/** Approximate size of a task as JSON. */
export function taskBytes(task: Task): number {
  let bytes = FRAME + messageBytes(task.status.message) + metadataBytes(task.metadata);
  for (const artifact of task.artifacts ?? []) bytes += artifactBytes(artifact);
  for (const message of task.history ?? []) bytes += messageBytes(message);
  return bytes;
}

/** Approximate size of an artifact as JSON. */
export function artifactBytes(artifact: Artifact): number {
  const { name = '', description = '', parts, metadata } = artifact;
  return FRAME + name.length + description.length + partsBytes(parts) + metadataBytes(metadata);
}

/** Approximate size of a message as JSON. */
export function messageBytes(message: Message | undefined): number {
  return message ? FRAME + partsBytes(message.parts) + metadataBytes(message.metadata) : 0;
}

function partsBytes(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) {
    bytes += 16;
    if (part.text !== undefined) bytes += part.text.length;
    else if (part.raw !== undefined) bytes += part.raw.length;
    else if (part.url !== undefined) bytes += part.url.length;
    else bytes += jsonBytes(part.data);
    bytes += metadataBytes(part.metadata);
  }
  return bytes;
}

function metadataBytes(metadata: JsonObject | undefined): number {
  return metadata === undefined ? 0 : jsonBytes(metadata);
}

/** Approximate size of a value as JSON. Escapes are not counted. */
function jsonBytes(value: JsonValue): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return PLAIN_BYTES;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) bytes += jsonBytes(item) + 1;
    return bytes;
  }
  for (const name in value) {
    const member = (value as JsonObject)[name];
    if (member !== undefined) bytes += name.length + 4 + jsonBytes(member);
  }
  return bytes;
}
