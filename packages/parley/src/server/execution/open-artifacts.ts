import type { Artifact } from '../../model/artifact.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
import type { EqualTimers, RunningTimer } from '../../runtime/equal-timers.js';
import { ignoreRejection, SETTLED } from '../../runtime/settled.js';
import { type ArtifactEnd, WHOLE_ARTIFACT_BYTES } from '../../task/artifact-end.js';
import { artifactBytes, eventBytes } from '../../task/event-bytes.js';
import { described, isPlainText } from '../../task/growing-artifact.js';
import type { TaskAddress } from './agent-event.js';

/** A chunk is held back for so many looks, at most 100 ms. */
const HELD_LOOKS = 4;
/** Time between two looks at a chunk that is held back, in ms. One timer serves all chunks of a turn. */
export const HELD_CHUNK_LOOK_MS = 25;

type ArtifactEvent = Extract<TaskEvent, { readonly artifactUpdate: unknown }>;

/** The log that gets the updates, in their order. */
export interface OpenArtifactsOptions extends TaskAddress {
  readonly form: ArtifactEnd;
  /** Timers of `HELD_CHUNK_LOOK_MS`. */
  readonly timers: EqualTimers;
  /** True if an update of the artifact was written. */
  readonly has: (artifactId: string) => boolean;
  /** The artifact after all updates that were written. */
  readonly artifact: (artifactId: string) => Artifact | undefined;
  readonly write: (event: ArtifactEvent, bytes: number) => Promise<void>;
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
  readonly #options: OpenArtifactsOptions;
  #held: HeldChunk | undefined;
  /** Looks at the chunk so far. */
  #looks = 0;
  #timer: RunningTimer | undefined;
  /** Artifacts of which the agent says that more follows. */
  readonly #growing = new Set<string>();
  /** Artifacts whose chunks are all written, and the last of them has no mark. */
  readonly #open = new Set<string>();

  constructor(options: OpenArtifactsOptions) {
    this.#options = options;
  }

  /** Takes an update. Resolves when there is room for the next. */
  take(event: ArtifactEvent, bytes: number): Promise<void> {
    const { artifact, append, lastChunk } = event.artifactUpdate;
    const id = artifact.artifactId;
    const held = this.#held;
    const isSame = held?.event.artifactUpdate.artifact.artifactId === id;
    if (isSame && append === true && lastChunk === undefined) {
      // One chunk takes the place of another, as most chunks do.
      const before = this.#options.write(held.event, held.bytes);
      held.event = event;
      held.bytes = bytes;
      held.isFirst = false;
      this.#looks = 0;
      return before;
    }
    if (isClosing(event.artifactUpdate)) {
      const room = this.#close(event.artifactUpdate);
      if (room !== undefined) return room;
    }
    const room = this.#release(isSame ? 'chunk of the artifact' : 'other artifact');
    const isFirst = append !== true || !this.#options.has(id);
    if (lastChunk === false) this.#growing.add(id);
    else if (isFirst || lastChunk === true) this.#growing.delete(id);
    const hasMore = this.#growing.has(id);
    const chunk = plain(event, isFirst);
    if (lastChunk === true) {
      this.#open.delete(id);
      return this.#options.write(chunk, bytes);
    }
    if (hasMore && !hasText(artifact)) {
      this.#open.add(id);
      return this.#options.write(chunk, bytes);
    }
    this.#held = { event: chunk, bytes, isFirst, hasMore };
    this.#looks = 0;
    this.#timer ??= this.#options.timers.start(this.#look);
    return room ?? SETTLED;
  }

  /** Writes everything that comes before a status or a whole task. */
  before(event: Exclude<TaskEvent, ArtifactEvent>): void {
    if ('task' in event) {
      this.#release('status');
      this.#growing.clear();
      return this.#open.clear();
    }
    const { state } = event.statusUpdate.status;
    if (state !== 'TASK_STATE_COMPLETED' && state !== 'TASK_STATE_INPUT_REQUIRED') return void this.#release('status');
    this.#release('end');
    for (const id of this.#open) this.#end(id);
    this.#open.clear();
  }

  /** Writes the chunk that is held back. */
  flush(): void {
    this.#release('flush');
  }

  /** Drops the chunk that is held back: nothing more is written. */
  abandon(): void {
    if (this.#timer) this.#options.timers.stop(this.#timer);
    this.#timer = undefined;
    this.#held = undefined;
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#held === undefined) return;
    this.#looks += 1;
    if (this.#looks >= HELD_LOOKS) this.#release('pause');
    else this.#timer = this.#options.timers.start(this.#look);
  };

  #release(successor: Successor): Promise<void> | undefined {
    const held = this.#held;
    if (held === undefined) return undefined;
    this.#held = undefined;
    const { event, bytes } = held;
    const { artifact } = event.artifactUpdate;
    const isLast = isLastBefore(successor, held);
    if (isLast) this.#open.delete(artifact.artifactId);
    else this.#open.add(artifact.artifactId);
    const room = this.#options.write(isLast ? marked(event) : event, bytes);
    return ignoreRejection(room);
  }

  /** Takes an update that only ends its artifact: the chunk before it gets the mark. `undefined`: it stays as it is. */
  #close({ artifact }: TaskArtifactUpdateEvent): Promise<void> | undefined {
    const id = artifact.artifactId;
    const held = this.#held;
    const isHeld = held?.event.artifactUpdate.artifact.artifactId === id;
    const before = isHeld ? held.event.artifactUpdate.artifact : this.#options.artifact(id);
    if (before === undefined || countsParts(before) || countsParts(artifact)) return undefined;
    if (isHeld) {
      this.#held = undefined;
      this.#open.delete(id);
      const { artifactUpdate } = held.event;
      const whole = { artifactUpdate: { ...artifactUpdate, artifact: described(before, artifact) } };
      return this.#options.write(marked(whole), eventBytes(whole));
    }
    if (!this.#open.delete(id)) return undefined;
    this.#release('other artifact');
    return this.#end(id, artifact);
  }

  /** Ends an artifact whose last chunk is written already. `closing`: the update that the agent ends it with. */
  #end(artifactId: string, closing?: Artifact): Promise<void> {
    const { form, artifact, write } = this.#options;
    const stored = artifact(artifactId);
    const end = stored && endOf(stored, form, closing);
    if (end === undefined) return SETTLED;
    const { taskId, contextId } = this.#options;
    const event = { artifactUpdate: { taskId, contextId, ...end, lastChunk: true } };
    return ignoreRejection(write(event, eventBytes(event)));
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
  return parts.some((part) => 'text' in part);
}

function marked({ artifactUpdate }: ArtifactEvent): ArtifactEvent {
  return { artifactUpdate: { ...artifactUpdate, lastChunk: true } };
}

/** The update without what only the agent means: that more follows, and that it appends to nothing. */
function plain(event: ArtifactEvent, isFirst: boolean): ArtifactEvent {
  const { taskId, contextId, artifact, append, lastChunk, metadata } = event.artifactUpdate;
  const appends = append === true && isFirst ? undefined : append;
  if (lastChunk !== false && appends === append) return event;
  const update: { -readonly [Name in keyof TaskArtifactUpdateEvent]: TaskArtifactUpdateEvent[Name] } =
    appends === undefined ? { taskId, contextId, artifact } : { taskId, contextId, artifact, append: appends };
  if (lastChunk === true) update.lastChunk = lastChunk;
  if (metadata !== undefined) update.metadata = metadata;
  return { artifactUpdate: update };
}
