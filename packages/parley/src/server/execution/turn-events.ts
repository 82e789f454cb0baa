import { isObject, type JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import type { TaskState } from '../../model/task-state.js';
import type { IdSource } from '../../runtime/id-source.js';
import { ignoreRejection, SETTLED } from '../../runtime/settled.js';
import type { ArtifactContent, ArtifactInfo, EventQueue, RawEvent, StatusContent, StatusInfo } from '../event-queue.js';
import { OwnPart } from '../own-part.js';

/** The error for events that an agent publishes after the end of its turn. */
export class TurnOverError extends Error {
  override readonly name = 'TurnOverError';
  constructor() {
    super('The turn is over; the event was not accepted');
  }
}

/** The turn as used by its agent's events: validates, numbers and commits them. */
export interface EventSink {
  readonly taskId: string;
  readonly contextId: string;
  /**
   * Accepts an event. Never throws: it rejects if the event is invalid, or the turn is over. `isOwn`: the agent has no
   * reference to objects of the event. `isValid`: no validation is needed.
   */
  accept(event: unknown, isOwn?: boolean, isValid?: boolean): Promise<void>;
  /**
   * Copies a value of the agent.
   * @throws TypeError if it has no JSON form, or is larger than a task may be.
   */
  own(value: unknown): JsonValue;
  /** Handles an event that cannot be read as an invalid one. Never throws. */
  refuse(error: unknown): Promise<void>;
  flush(): Promise<void>;
}

/** The agent's side of a turn: builds protocol events from the arguments of the agent. */
export class TurnEvents implements EventQueue {
  readonly #sink: EventSink;
  readonly #ids: IdSource;

  constructor(sink: EventSink, ids: IdSource) {
    this.#sink = sink;
    this.#ids = ids;
  }

  working(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_WORKING', content, info);
  }

  inputRequired(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_INPUT_REQUIRED', content, info);
  }

  authRequired(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_AUTH_REQUIRED', content, info);
  }

  complete(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_COMPLETED', content, info);
  }

  fail(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_FAILED', content, info);
  }

  reject(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_REJECTED', content, info);
  }

  cancel(content?: StatusContent, info?: StatusInfo): Promise<void> {
    return this.#status('TASK_STATE_CANCELED', content, info);
  }

  artifact(content: ArtifactContent, info?: ArtifactInfo): Promise<string> {
    const artifactId = info === undefined ? this.#ids.random() : this.#idOf(info);
    const taken = this.#artifact(artifactId, content, info, false);
    // The buffer nearly always has room: then no second promise is needed.
    return taken === SETTLED ? Promise.resolve(artifactId) : ignoreRejection(taken.then(() => artifactId));
  }

  append(artifactId: string, content: ArtifactContent, info?: Omit<ArtifactInfo, 'artifactId'>): Promise<void> {
    return this.#artifact(artifactId, content, info, true);
  }

  message(content: StatusContent): Promise<void> {
    try {
      const isText = typeof content === 'string';
      return ignoreRejection(
        this.#sink.accept({ message: this.#message(content) }, isText, isText && content.isWellFormed()),
      );
    } catch (error) {
      return this.#refuse(error);
    }
  }

  publish(event: RawEvent): Promise<void> {
    try {
      return ignoreRejection(this.#sink.accept(this.#completed(event)));
    } catch (error) {
      return this.#refuse(error);
    }
  }

  flush(): Promise<void> {
    return ignoreRejection(this.#sink.flush());
  }

  #status(state: TaskState, content: StatusContent | undefined, info: StatusInfo | undefined): Promise<void> {
    const { taskId, contextId } = this.#sink;
    try {
      const status = content === undefined ? { state } : { state, message: this.#message(content) };
      const metadata = info?.metadata;
      const update = metadata === undefined ? { taskId, contextId, status } : { taskId, contextId, status, metadata };
      const isPlain = metadata === undefined && (content === undefined || typeof content === 'string');
      const isValid = isPlain && (content === undefined || content.isWellFormed());
      return ignoreRejection(this.#sink.accept({ statusUpdate: update }, isPlain, isValid));
    } catch (error) {
      return this.#refuse(error);
    }
  }

  #artifact(
    artifactId: string,
    content: ArtifactContent,
    info: ArtifactInfo | undefined,
    append: boolean,
  ): Promise<void> {
    const { taskId, contextId } = this.#sink;
    try {
      const parts = this.#partsOf(content);
      let artifact: Record<string, unknown> = { artifactId, parts };
      let lastChunk: boolean | undefined;
      if (info !== undefined) lastChunk = info.lastChunk;
      const isPlain = info === undefined || isOnlyMark(info);
      if (!isPlain) {
        const { lastChunk: _, ...about } = info;
        artifact = { ...(isFlat(about) ? about : (this.#sink.own(about) as object)), artifactId, parts };
      }
      const update: Record<string, unknown> = append
        ? { taskId, contextId, artifact, append }
        : { taskId, contextId, artifact };
      if (lastChunk !== undefined) update.lastChunk = lastChunk;
      const isOwn = typeof content === 'string' ? content.isWellFormed() : content instanceof OwnPart;
      const isValid = isOwn && isPlain && isTyped(artifactId, lastChunk);
      return ignoreRejection(this.#sink.accept({ artifactUpdate: update }, true, isValid));
    } catch (error) {
      return this.#refuse(error);
    }
  }

  /** Returns the parts of an artifact, as objects that the agent has no reference to. */
  #partsOf(content: ArtifactContent): unknown {
    if (typeof content === 'string') return [{ text: content }];
    if (content instanceof OwnPart) return [content.plain];
    return this.#sink.own(Array.isArray(content) ? content : [content]);
  }

  /** Returns the id in the description, or a new one. An unreadable id is refused later, with its event. */
  #idOf(info: ArtifactInfo): string {
    try {
      return info.artifactId ?? this.#ids.random();
    } catch {
      return this.#ids.random();
    }
  }

  /** Getters of an agent's objects may throw. */
  #refuse(error: unknown): Promise<void> {
    return ignoreRejection(this.#sink.refuse(error));
  }

  #message(content: StatusContent): Partial<Message> {
    if (typeof content === 'string') return this.#addressed({ parts: [{ text: content }] });
    return this.#addressed(
      Array.isArray(content) ? { parts: content as readonly Part[] } : (content as Partial<Message>),
    );
  }

  #addressed(message: Partial<Message>): Partial<Message> {
    const { taskId, contextId } = this.#sink;
    return { messageId: this.#ids.random(), role: 'ROLE_AGENT', taskId, contextId, ...message };
  }

  /** Adds ids that an agent may omit in a raw event. */
  #completed(event: unknown): unknown {
    if (!isObject(event) || Object.keys(event).length !== 1) return event;
    const { taskId, contextId } = this.#sink;
    if (isObject(event.statusUpdate)) {
      const update = event.statusUpdate;
      const status =
        isObject(update.status) && isObject(update.status.message)
          ? { ...update.status, message: this.#addressed(update.status.message as Partial<Message>) }
          : update.status;
      return { statusUpdate: { taskId, contextId, ...update, status } };
    }
    if (isObject(event.artifactUpdate)) return { artifactUpdate: { taskId, contextId, ...event.artifactUpdate } };
    if (isObject(event.task)) return { task: { id: taskId, contextId, ...event.task } };
    if (isObject(event.message)) return { message: this.#addressed(event.message as Partial<Message>) };
    return event;
  }
}

/** Untyped agents may pass anything as `artifactId` or `lastChunk`. */
function isTyped(artifactId: unknown, lastChunk: unknown): boolean {
  if (typeof artifactId !== 'string' || artifactId === '' || !artifactId.isWellFormed()) return false;
  return lastChunk === undefined || typeof lastChunk === 'boolean';
}

/** True if a description has no member but `lastChunk`. */
function isOnlyMark(info: ArtifactInfo): boolean {
  for (const name in info) if (name !== 'lastChunk') return false;
  return true;
}

/** True if the description of an artifact contains no objects, so that a shallow copy is enough. */
function isFlat(about: Readonly<Record<string, unknown>>): boolean {
  for (const name in about) {
    const member = about[name];
    if (typeof member !== 'string' && typeof member !== 'boolean') return false;
  }
  return true;
}
