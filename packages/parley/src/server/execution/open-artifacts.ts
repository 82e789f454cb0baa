import type { Artifact } from '../../model/artifact.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
import { type ArtifactEnd, WHOLE_ARTIFACT_BYTES } from '../../task/artifact-end.js';
import { artifactBytes, eventBytes } from '../../task/event-bytes.js';
import { described, isPlainText } from '../../task/growing-artifact.js';
import type { TaskAddress } from './agent-event.js';

/** A chunk is held back for so many looks, at most 100 ms. */
const HELD_LOOKS = 4;
/** Time between two looks at a chunk that is held back, in ms. */
export const HELD_CHUNK_LOOK_MS = 25;

/** An update of an artifact, or a new one. */
export type ArtifactEvent = Extract<TaskEvent, { readonly artifactUpdate: unknown }>;

/** The log that gets the updates, in their order. */
export interface ArtifactLog extends TaskAddress {
  /** True if an update of the artifact was recorded. */
  has(artifactId: string): boolean;
  /** The artifact after all updates that were recorded. */
  artifact(artifactId: string): Artifact | undefined;
  record(event: ArtifactEvent, bytes: number): void;
}

/** The reason for which a chunk is held back no longer. `end`: the turn has completed its task, or asks its caller. */
type Successor = 'chunk of the artifact' | 'other artifact' | 'status' | 'flush' | 'pause' | 'end';

/** A chunk that is held back until the next event shows if it is the last one. */
interface HeldChunk {
  event: ArtifactEvent;
  bytes: number;
  /** True for the first update of an artifact, and for one that replaces it. */
  isFirst: boolean;
  /** True if the agent says that more follows. */
  readonly hasMore: boolean;
}

/**
 * Says which update of an artifact is the last one (Spec §4.2.2): many clients show an artifact only then. An agent
 * need not know. One chunk is held back until the next event, and carries the mark if it was the last one.
 */
export class OpenArtifacts {
  readonly #log: ArtifactLog;
  readonly #form: ArtifactEnd;
  #held: HeldChunk | undefined;
  /** Looks at the chunk so far. */
  #looks = 0;
  /** Artifacts of which the agent says that more follows. */
  readonly #growing = new Set<string>();
  /** Artifacts whose chunks are all recorded, and the last of them has no mark. */
  readonly #open = new Set<string>();

  constructor(log: ArtifactLog, form: ArtifactEnd) {
    this.#log = log;
    this.#form = form;
  }

  /** Takes an update. Returns whether it is held back: then `look` at it every `HELD_CHUNK_LOOK_MS`. */
  take(event: ArtifactEvent, bytes: number): boolean {
    const { artifact, append, lastChunk } = event.artifactUpdate;
    const id = artifact.artifactId;
    const held = this.#held;
    const isSame = held?.event.artifactUpdate.artifact.artifactId === id;
    if (isSame && append === true && lastChunk === undefined) {
      // One chunk takes the place of another, as most chunks do.
      this.#log.record(held.event, held.bytes);
      held.event = event;
      held.bytes = bytes;
      held.isFirst = false;
      this.#looks = 0;
      return true;
    }
    if (lastChunk === true && this.#close(event.artifactUpdate)) return false;
    this.release(isSame ? 'chunk of the artifact' : 'other artifact');
    const isFirst = append !== true || !this.#log.has(id);
    if (lastChunk === false) this.#growing.add(id);
    else if (isFirst || lastChunk === true) this.#growing.delete(id);
    const hasMore = this.#growing.has(id);
    const chunk = lastChunk === false || (append === true && isFirst) ? plain(event, isFirst) : event;
    if (lastChunk !== true && !(hasMore && !hasText(artifact))) {
      this.#held = { event: chunk, bytes, isFirst, hasMore };
      this.#looks = 0;
      return true;
    }
    if (lastChunk === true) this.#open.delete(id);
    else this.#open.add(id);
    this.#log.record(chunk, bytes);
    return false;
  }

  /** Records everything that comes before a status or a whole task. */
  before(event: Exclude<TaskEvent, ArtifactEvent>): void {
    if (event.task !== undefined) {
      this.release('status');
      this.#growing.clear();
      return this.#open.clear();
    }
    const { state } = event.statusUpdate.status;
    if (state !== 'TASK_STATE_COMPLETED' && state !== 'TASK_STATE_INPUT_REQUIRED') return this.release('status');
    this.release('end');
    for (const id of this.#open) this.#end(id);
    this.#open.clear();
  }

  /** Records the chunk that is held back, if no event has followed it for long. Returns whether it is held on. */
  look(): boolean {
    this.#looks += 1;
    if (this.#looks >= HELD_LOOKS) this.release('pause');
    return this.#held !== undefined;
  }

  /** Records the chunk that is held back. */
  release(successor: Successor): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    const { event, bytes } = held;
    const { artifact } = event.artifactUpdate;
    const isLast = isLastBefore(successor, held);
    if (isLast) this.#open.delete(artifact.artifactId);
    else this.#open.add(artifact.artifactId);
    this.#log.record(isLast ? marked(event) : event, bytes);
  }

  /**
   * Takes an update that only ends its artifact: the chunk before it gets the mark. Returns false if the update stays
   * as it is.
   */
  #close(update: TaskArtifactUpdateEvent): boolean {
    const { artifact } = update;
    const id = artifact.artifactId;
    const held = this.#held;
    const isHeld = held?.event.artifactUpdate.artifact.artifactId === id;
    const before = isHeld ? held.event.artifactUpdate.artifact : this.#log.artifact(id);
    if (!isClosing(update) || before === undefined || countsParts(before) || countsParts(artifact)) return false;
    if (isHeld) {
      this.#held = undefined;
      this.#open.delete(id);
      const { artifactUpdate } = held.event;
      const whole = { artifactUpdate: { ...artifactUpdate, artifact: described(before, artifact) } };
      this.#log.record(marked(whole), eventBytes(whole));
      return true;
    }
    if (!this.#open.delete(id)) return false;
    this.release('other artifact');
    this.#end(id, artifact);
    return true;
  }

  /** Ends an artifact whose last chunk is recorded already. `closing`: the update that the agent ends it with. */
  #end(artifactId: string, closing?: Artifact): void {
    const stored = this.#log.artifact(artifactId);
    const end = stored && endOf(stored, this.#form, closing);
    if (end === undefined) return;
    const { taskId, contextId } = this.#log;
    const event = { artifactUpdate: { taskId, contextId, ...end, lastChunk: true } };
    this.#log.record(event, eventBytes(event));
  }
}

/** True if a chunk is the last of its artifact, as far as its successor shows. */
function isLastBefore(successor: Successor, { event, isFirst, hasMore }: HeldChunk): boolean {
  if (successor === 'end') return true;
  if (successor === 'chunk of the artifact' || hasMore) return false;
  if (successor === 'other artifact') return true;
  // Content in one update is whole. A text may be the first chunk of many.
  if (successor === 'pause') return isFirst && !hasText(event.artifactUpdate.artifact);
  return isFirst;
}

/** The update for the end of an artifact whose chunks are shown already. `undefined`: it needs none. */
function endOf(
  stored: Artifact,
  form: ArtifactEnd,
  closing: Artifact | undefined,
): Pick<TaskArtifactUpdateEvent, 'artifact' | 'append'> | undefined {
  // Clients that wait for the end show texts. Files and data would only be there twice.
  if (!hasText(stored)) return undefined;
  if (form !== 'chunk' && artifactBytes(stored) <= WHOLE_ARTIFACT_BYTES) {
    return { artifact: closing === undefined ? stored : described(stored, closing), append: false };
  }
  if (countsParts(stored)) return undefined;
  return { artifact: closing ?? { artifactId: stored.artifactId, parts: [{ text: '' }] }, append: true };
}

/** True for an update that brings nothing but the end of its artifact. */
function isClosing({ artifact, append, lastChunk, metadata }: TaskArtifactUpdateEvent): boolean {
  if (lastChunk !== true || append !== true || metadata !== undefined || artifact.parts.length !== 1) return false;
  const part = artifact.parts[0];
  return part !== undefined && isPlainText(part) && part.text === '';
}

/** True if an extension of the artifact may count its parts, so that no part may be added or left out. */
function countsParts({ extensions = [] }: Artifact): boolean {
  return extensions.length > 0;
}

function hasText({ parts }: Artifact): boolean {
  return parts.some((part) => part.text !== undefined);
}

function marked({ artifactUpdate }: ArtifactEvent): ArtifactEvent {
  return { artifactUpdate: { ...artifactUpdate, lastChunk: true } };
}

/** The update without what only the agent means: that more follows, and that it appends to nothing. */
function plain({ artifactUpdate }: ArtifactEvent, isFirst: boolean): ArtifactEvent {
  const { taskId, contextId, artifact, append, lastChunk, metadata } = artifactUpdate;
  const appends = append === true && isFirst ? undefined : append;
  const update: { -readonly [Name in keyof TaskArtifactUpdateEvent]: TaskArtifactUpdateEvent[Name] } =
    appends === undefined ? { taskId, contextId, artifact } : { taskId, contextId, artifact, append: appends };
  if (lastChunk === true) update.lastChunk = lastChunk;
  if (metadata !== undefined) update.metadata = metadata;
  return { artifactUpdate: update };
}
