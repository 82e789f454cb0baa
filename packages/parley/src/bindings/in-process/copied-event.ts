import { cloneJson } from '../../model/clone-json.js';
import type { Part } from '../../model/part.js';
import type { StreamResponse, TaskArtifactUpdateEvent } from '../../model/stream-response.js';

/** Copies a valid event, so that the caller may change the copy. */
export function copiedEvent(event: StreamResponse): StreamResponse {
  if (event.artifactUpdate !== undefined && isTextOnly(event.artifactUpdate))
    return { artifactUpdate: textUpdate(event.artifactUpdate) };
  return cloneJson(event);
}

/** True if the update contains no objects but its artifact and the parts of that, as most chunks do. */
function isTextOnly({ artifact, metadata }: TaskArtifactUpdateEvent): boolean {
  if (metadata !== undefined || artifact.metadata !== undefined || artifact.extensions !== undefined) return false;
  for (const part of artifact.parts) if (part.text === undefined || part.metadata !== undefined) return false;
  return true;
}

/** The copy of such an update. `cloneJson` takes three times as long, and streams in process copy each chunk. */
function textUpdate(update: TaskArtifactUpdateEvent): TaskArtifactUpdateEvent {
  const { artifact } = update;
  return { ...update, artifact: { ...artifact, parts: artifact.parts.map((part): Part => ({ ...part })) } };
}
