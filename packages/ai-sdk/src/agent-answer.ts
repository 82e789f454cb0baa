import type { Artifact, JsonObject, Message, Part, StreamResponse, Task, TaskState } from 'parley-a2a';
import { isInterrupted, isTerminal, joinParts, textOf } from 'parley-a2a/kit';

/** New content of one artifact, or of the message at the end. */
export interface AnswerPiece {
  /** The artifact; undefined for the message. */
  readonly artifact: Artifact | undefined;
  readonly parts: readonly Part[];
}

/** The answer of an agent so far, from the events of its turn. */
export class AgentAnswer {
  readonly #artifacts = new Map<string, { artifact: Artifact; parts: Part[] }>();
  /** Artifacts of earlier turns, which this turn has not changed. */
  readonly #earlier = new Set<string>();
  #isFirst = true;
  #taskId: string | undefined;
  #contextId: string | undefined;
  #state: TaskState | undefined;
  #message: Message | undefined;
  #metadata: JsonObject | undefined;
  /** The task that the message continues. */
  readonly continuedTaskId: string | undefined;

  /**
   * `continuedTaskId` names the task that the message continues. The older artifacts of that task are no part of the
   * answer. They arrive with the first event, or are passed as `earlier`.
   */
  constructor(continuedTaskId?: string, earlier: readonly Artifact[] = []) {
    this.continuedTaskId = continuedTaskId;
    this.#keep(earlier);
  }

  get taskId(): string | undefined {
    return this.#taskId;
  }

  get contextId(): string | undefined {
    return this.#contextId;
  }

  /** Undefined for a message without a task. */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** The last message of the agent about the task, or its direct answer. */
  get message(): Message | undefined {
    return this.#message;
  }

  /** The metadata of the last status. */
  get metadata(): JsonObject | undefined {
    return this.#metadata;
  }

  /** The artifacts, with adjacent texts joined. */
  get artifacts(): readonly Artifact[] {
    return [...this.#artifacts.values()]
      .filter(({ artifact }) => !this.#earlier.has(artifact.artifactId))
      .map(({ artifact, parts }) => ({ ...artifact, parts: joinParts(parts) }));
  }

  /** The artifacts that the task had before the answer, and has not changed. */
  get earlier(): readonly Artifact[] {
    return [...this.#artifacts.values()]
      .filter(({ artifact }) => this.#earlier.has(artifact.artifactId))
      .map(({ artifact, parts }) => ({ ...artifact, parts: joinParts(parts) }));
  }

  /** Applies an event. Returns the new content. */
  take(event: StreamResponse): readonly AnswerPiece[] {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (event.message !== undefined) {
      this.#contextId = event.message.contextId ?? this.#contextId;
      this.#message = event.message;
      return [{ artifact: undefined, parts: event.message.parts }];
    }
    if (event.task !== undefined) return this.#snapshot(event.task, isFirst && event.task.id === this.continuedTaskId);
    if (event.statusUpdate !== undefined) {
      const { taskId, contextId, status, metadata } = event.statusUpdate;
      this.#taskId = taskId;
      this.#contextId = contextId;
      this.#metadata = metadata;
      return this.#status(status.state, status.message);
    }
    const { taskId, contextId, artifact, append = false } = event.artifactUpdate;
    this.#taskId = taskId;
    this.#contextId = contextId;
    return append ? this.#append(artifact) : this.#replace(artifact);
  }

  #snapshot({ id, contextId, status, artifacts = [] }: Task, isBefore: boolean): readonly AnswerPiece[] {
    this.#taskId = id;
    this.#contextId = contextId ?? this.#contextId;
    if (isBefore) this.#keep(artifacts);
    const pieces = isBefore ? [] : artifacts.flatMap((artifact) => this.#replace(artifact));
    // The first snapshot of a continued task may show the question that this message answers.
    const isAsked = isBefore && isInterrupted(status.state);
    return isAsked ? pieces : [...pieces, ...this.#status(status.state, status.message)];
  }

  #keep(artifacts: readonly Artifact[]): void {
    for (const artifact of artifacts) {
      this.#earlier.add(artifact.artifactId);
      this.#artifacts.set(artifact.artifactId, { artifact, parts: [...artifact.parts] });
    }
  }

  #status(state: TaskState, message: Message | undefined): readonly AnswerPiece[] {
    this.#state = state;
    this.#message = message;
    const isSaid = message !== undefined && (isTerminal(state) || isInterrupted(state));
    return isSaid ? [{ artifact: undefined, parts: message.parts }] : [];
  }

  #append(chunk: Artifact): readonly AnswerPiece[] {
    const known = this.#artifacts.get(chunk.artifactId);
    if (known === undefined) return this.#replace(chunk);
    this.#earlier.delete(chunk.artifactId);
    known.parts.push(...chunk.parts);
    return [{ artifact: known.artifact, parts: chunk.parts }];
  }

  /** A snapshot after a lost connection repeats content that was taken already. */
  #replace(artifact: Artifact): readonly AnswerPiece[] {
    const { artifactId, parts } = artifact;
    const fresh = unseen(parts, this.#artifacts.get(artifactId)?.parts ?? []);
    if (fresh.length === 0) return [];
    this.#earlier.delete(artifactId);
    this.#artifacts.set(artifactId, { artifact, parts: [...parts] });
    return [{ artifact, parts: fresh }];
  }
}

/** The parts after those that were taken already; all parts if the artifact has been replaced. */
function unseen(parts: readonly Part[], seen: readonly Part[]): readonly Part[] {
  const [now, before] = [joinParts(parts), joinParts(seen)];
  const last = before.length - 1;
  for (const [index, part] of before.entries()) {
    const same = now[index];
    if (same === undefined) return parts;
    if (JSON.stringify(same) === JSON.stringify(part)) continue;
    if (index < last || part.text === undefined || same.text === undefined || !same.text.startsWith(part.text))
      return parts;
    return [{ ...same, text: same.text.slice(part.text.length) }, ...now.slice(index + 1)];
  }
  return now.slice(before.length);
}

/** The text of a message; undefined if it has none. */
export function saidBy(message: Message | undefined): string | undefined {
  const text = message === undefined ? '' : textOf(message);
  return text === '' ? undefined : text;
}

/** The error text for a failed state; undefined for other states. */
export function failureOf(state: TaskState | undefined): string | undefined {
  switch (state) {
    case 'TASK_STATE_FAILED':
      return 'The task of the agent failed';
    case 'TASK_STATE_REJECTED':
      return 'The agent rejected the task';
    case 'TASK_STATE_CANCELED':
      return 'The task of the agent was canceled';
    case 'TASK_STATE_UNSPECIFIED':
    case 'TASK_STATE_SUBMITTED':
    case 'TASK_STATE_WORKING':
    case 'TASK_STATE_COMPLETED':
    case 'TASK_STATE_INPUT_REQUIRED':
    case 'TASK_STATE_AUTH_REQUIRED':
    case undefined:
      return undefined;
  }
}
