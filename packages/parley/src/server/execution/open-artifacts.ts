import type { Artifact } from '../../model/artifact.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
import { type ArtifactEnd, WHOLE_ARTIFACT_BYTES } from '../../task/artifact-end.js';
import { artifactBytes, eventBytes } from '../../task/event-bytes.js';
import { isPlainText, mergeDescription } from '../../task/growing-artifact.js';
import type { TaskAddress } from './agent-event.js';

/** Maximum number of checks while a chunk is held back: at most 100 ms. */
const HELD_LOOKS = 4;
/** Interval of the checks of a held-back chunk, in ms. */
export const HELD_CHUNK_LOOK_MS = 25;

/** An update of an artifact, or a new one. */
export type ArtifactEvent = Extract<TaskEvent, { readonly artifactUpdate: unknown }>;

/** The log that records the updates in order. */
export interface ArtifactLog extends TaskAddress {
  /** True if an update of the artifact was recorded. */
  has(artifactId: string): boolean;
  /** The artifact after all updates that were recorded. */
  artifact(artifactId: string): Artifact | undefined;
  record(event: ArtifactEvent, bytes: number): void;
}

/** The reason for the release of a chunk. `end`: the turn has completed its task, or asks its caller. */
type Successor = 'chunk of the artifact' | 'other artifact' | 'status' | 'flush' | 'pause' | 'end';

/** A chunk that is held back until the next event shows whether it is the last one. */
interface HeldChunk {
  event: ArtifactEvent;
  bytes: number;
  /** True for the first update of an artifact, and for one that replaces it. */
  isFirst: boolean;
  /** True if the agent has announced more chunks. */
  readonly hasMore: boolean;
}

/**
 * Marks the last update of each artifact (Spec §4.2.2), because many clients show an artifact only then. The agent need
 * not mark it: one chunk is held back until the next event, and gets the mark if it was the last one.
 */
export class OpenArtifacts {
  readonly #log: ArtifactLog;
  readonly #form: ArtifactEnd;
  #held: HeldChunk | undefined;
  /** Number of checks of the held-back chunk so far. */
  #looks = 0;
  /** Artifacts for which the agent has announced more chunks. */
  readonly #growing = new Set<string>();
  /** Artifacts whose recorded chunks have no mark on the last one. */
  readonly #open = new Set<string>();

  constructor(log: ArtifactLog, form: ArtifactEnd) {
    this.#log = log;
    this.#form = form;
  }

  /** Bytes of the chunk that is held back. */
  get heldBytes(): number {
    return this.#held?.bytes ?? 0;
  }

  /** Adds an update. Returns whether it is held back: then call `look` every `HELD_CHUNK_LOOK_MS`. */
  take(event: ArtifactEvent, bytes: number): boolean {
    const { artifact, append, lastChunk } = event.artifactUpdate;
    const id = artifact.artifactId;
    const held = this.#held;
    const isSame = held?.event.artifactUpdate.artifact.artifactId === id;
    if (isSame && append === true && lastChunk === undefined) {
      // A chunk replaces the held-back one: the most frequent case.
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

  /** Records all updates that must come before a status or a whole task. */
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

  /** Records the held-back chunk after the maximum number of checks. Returns whether it is still held back. */
  look(): boolean {
    this.#looks += 1;
    if (this.#looks >= HELD_LOOKS) this.release('pause');
    return this.#held !== undefined;
  }

  /** Records the held-back chunk. */
  release(successor: Successor): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    const { event, bytes } = held;
    const { artifact } = event.artifactUpdate;
    const isLast = isLastBefore(successor, held);
    if (isLast) this.#open.delete(artifact.artifactId);
    else this.#open.add(artifact.artifactId);
    this.#log.record(isLast ? markLast(event) : event, bytes);
  }

  /**
   * Handles an update that only ends its artifact: the chunk before it gets the mark. Returns false if the update must
   * be recorded itself.
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
      const whole = { artifactUpdate: { ...artifactUpdate, artifact: mergeDescription(before, artifact) } };
      this.#log.record(markLast(whole), eventBytes(whole));
      return true;
    }
    if (!this.#open.delete(id)) return false;
    this.release('other artifact');
    this.#end(id, artifact);
    return true;
  }

  /** Ends an artifact whose last chunk is already recorded. `closing`: the update of the agent that ends it. */
  #end(artifactId: string, closing?: Artifact): void {
    const stored = this.#log.artifact(artifactId);
    const end = stored && endOf(stored, this.#form, closing);
    if (end === undefined) return;
    const { taskId, contextId } = this.#log;
    const event = { artifactUpdate: { taskId, contextId, ...end, lastChunk: true } };
    this.#log.record(event, eventBytes(event));
  }
}

/** True if the successor of a chunk shows that it is the last one. */
function isLastBefore(successor: Successor, { event, isFirst, hasMore }: HeldChunk): boolean {
  if (successor === 'end') return true;
  if (successor === 'chunk of the artifact' || hasMore) return false;
  if (successor === 'other artifact') return true;
  // Content without text is complete in one update. A text may be the first of many chunks.
  if (successor === 'pause') return isFirst && !hasText(event.artifactUpdate.artifact);
  return isFirst;
}

/** Returns the update that ends an artifact whose chunks are already sent. `undefined`: none is needed. */
function endOf(
  stored: Artifact,
  form: ArtifactEnd,
  closing: Artifact | undefined,
): Pick<TaskArtifactUpdateEvent, 'artifact' | 'append'> | undefined {
  // Clients that wait for the end show texts. Files and data would only be repeated.
  if (!hasText(stored)) return undefined;
  if (form !== 'chunk' && artifactBytes(stored) <= WHOLE_ARTIFACT_BYTES) {
    return { artifact: closing === undefined ? stored : mergeDescription(stored, closing), append: false };
  }
  if (countsParts(stored)) return undefined;
  return { artifact: closing ?? { artifactId: stored.artifactId, parts: [{ text: '' }] }, append: true };
}

/** True for an update that only ends its artifact. */
function isClosing({ artifact, append, lastChunk, metadata }: TaskArtifactUpdateEvent): boolean {
  if (lastChunk !== true || append !== true || metadata !== undefined || artifact.parts.length !== 1) return false;
  const part = artifact.parts[0];
  return part !== undefined && isPlainText(part) && part.text === '';
}

/** True if an extension of the artifact may number its parts, so that no part may be added or left out. */
function countsParts({ extensions = [] }: Artifact): boolean {
  return extensions.length > 0;
}

function hasText({ parts }: Artifact): boolean {
  return parts.some((part) => part.text !== undefined);
}

function markLast({ artifactUpdate }: ArtifactEvent): ArtifactEvent {
  return { artifactUpdate: { ...artifactUpdate, lastChunk: true } };
}

/**
 * Returns the update without marks that have no meaning for clients: `lastChunk: false`, and `append` in a first
 * update.
 */
function plain({ artifactUpdate }: ArtifactEvent, isFirst: boolean): ArtifactEvent {
  const { taskId, contextId, artifact, append, lastChunk, metadata } = artifactUpdate;
  const appends = append === true && isFirst ? undefined : append;
  const update: { -readonly [Name in keyof TaskArtifactUpdateEvent]: TaskArtifactUpdateEvent[Name] } =
    appends === undefined ? { taskId, contextId, artifact } : { taskId, contextId, artifact, append: appends };
  if (lastChunk === true) update.lastChunk = lastChunk;
  if (metadata !== undefined) update.metadata = metadata;
  return { artifactUpdate: update };
}
