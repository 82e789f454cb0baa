import type { Artifact, JsonObject, Message, Part, StreamResponse, Task } from 'parley-a2a';
import { isObject, SIGNING_EXTENSION } from 'parley-a2a/kit';

/** The file name and the media type of a part. */
interface PartLabels {
  readonly filename?: string | undefined;
  readonly mediaType?: string | undefined;
}

/**
 * The labels of a part. Versions before 1.0 have no place for those of text and data parts, so the signer copies them
 * to the metadata of the part. A label of the part itself wins over the copy.
 */
export function labelsOf(part: Part): PartLabels {
  const { filename, mediaType } = part;
  if (!losesLabels(part)) return { filename, mediaType };
  const carried = part.metadata?.[SIGNING_EXTENSION];
  const own = isObject(carried) ? carried : {};
  return { filename: filename || labelIn(own, 'filename'), mediaType: mediaType || labelIn(own, 'mediaType') };
}

/** The part as a signer sends it: with a copy of its labels in its metadata, if a version may lose them. */
export function withCarriedLabels(part: Part): Part {
  const plain = withoutCarried(part);
  const { filename, mediaType } = plain;
  if (!losesLabels(plain) || !(filename || mediaType)) return plain;
  const carried = { ...(filename && { filename }), ...(mediaType && { mediaType }) };
  return { ...plain, metadata: { ...plain.metadata, [SIGNING_EXTENSION]: carried } };
}

/** Restores the labels of a part, after its signature was verified. */
export function restoredPart(part: Part): Part {
  if (part.metadata?.[SIGNING_EXTENSION] === undefined) return part;
  const { filename, mediaType } = labelsOf(part);
  return { ...withoutCarried(part), ...(filename && { filename }), ...(mediaType && { mediaType }) };
}

/** Restores the labels of all parts of a message. */
export function restoredMessage(message: Message): Message {
  return withParts(message, restoredPart);
}

/** Restores the labels of all parts of an artifact. */
export function restoredArtifact(artifact: Artifact): Artifact {
  return withParts(artifact, restoredPart);
}

/** Restores the labels of an answer. Messages of users are left as they are, because readers do not verify them. */
export function restoredAnswer(event: StreamResponse): StreamResponse {
  if (event.message !== undefined) return { message: restoredMessage(event.message) };
  if (event.task !== undefined) return { task: restoredTask(event.task) };
  if (event.artifactUpdate !== undefined) {
    const { artifactUpdate } = event;
    return { artifactUpdate: { ...artifactUpdate, artifact: restoredArtifact(artifactUpdate.artifact) } };
  }
  const { status } = event.statusUpdate;
  return { statusUpdate: { ...event.statusUpdate, status: restoredStatus(status) } };
}

/** Restores the labels of all parts of a task. */
export function restoredTask(task: Task): Task {
  const { status, artifacts, history } = task;
  return {
    ...task,
    status: restoredStatus(status),
    ...(artifacts && { artifacts: artifacts.map(restoredArtifact) }),
    ...(history && { history: history.map((one) => (one.role === 'ROLE_AGENT' ? restoredMessage(one) : one)) }),
  };
}

function restoredStatus(status: Task['status']): Task['status'] {
  return status.message === undefined ? status : { ...status, message: restoredMessage(status.message) };
}

/** The content with changed parts; the same object if none changes. */
function withParts<Content extends { readonly parts: readonly Part[] }>(
  content: Content,
  change: (part: Part) => Part,
): Content {
  const parts = content.parts.map(change);
  return parts.every((part, at) => part === content.parts[at]) ? content : { ...content, parts };
}

function losesLabels(part: Part): boolean {
  return part.text !== undefined || part.data !== undefined;
}

function withoutCarried(part: Part): Part {
  if (part.metadata?.[SIGNING_EXTENSION] === undefined) return part;
  const { metadata, ...bare } = part;
  const { [SIGNING_EXTENSION]: _, ...rest } = metadata;
  return (Object.keys(rest).length > 0 ? { ...bare, metadata: rest } : bare) as Part;
}

function labelIn(carried: JsonObject, name: keyof PartLabels): string | undefined {
  const label = carried[name];
  return typeof label === 'string' ? label : undefined;
}
