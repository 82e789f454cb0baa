import { createHash, type Hash } from 'node:crypto';
import type { Artifact, Message, Part, StreamResponse, Task } from 'parley-a2a';

/** The part of an artifact that was already printed. */
interface Shown {
  /** Hash and length of its text. */
  readonly hash: Hash;
  readonly length: number;
  /** Number of its parts that are not text. */
  readonly others: number;
}

const NOTHING: Shown = { hash: createHash('sha256'), length: 0, others: 0 };

/**
 * Reduces events to new content. A task event repeats the whole task, and an update may repeat a whole artifact: parts
 * and messages of earlier turns and connections are removed.
 */
export class TaskNews {
  readonly #artifacts = new Map<string, Shown>();
  /** Digests of messages. */
  readonly #messages = new Set<string>();
  readonly #taskIds = new Set<string>();

  /**
   * Reads a task before a message to it, to exclude its earlier turns. Does nothing if it was already printed. A failed
   * read is ignored, because sending the message fails the same way.
   */
  async begin(taskId: string | undefined, read: (id: string) => Promise<Task>): Promise<void> {
    if (taskId === undefined || this.#taskIds.has(taskId)) return;
    const former = await read(taskId).catch(() => undefined);
    if (former !== undefined) this.ofTask(former);
  }

  /** Returns the event without printed content. A task keeps only artifacts and messages with new content. */
  of(event: StreamResponse): StreamResponse {
    if (event.task !== undefined) return { task: this.ofTask(event.task) };
    if (event.artifactUpdate !== undefined) return this.#ofUpdate(event);
    if (event.message !== undefined) return event;
    const { statusUpdate } = event;
    const { message, ...status } = statusUpdate.status;
    return message === undefined || this.#isNews(message) ? event : { statusUpdate: { ...statusUpdate, status } };
  }

  /** Returns the task without printed content. */
  ofTask(task: Task): Task {
    this.#taskIds.add(task.id);
    const { message, ...status } = task.status;
    const artifacts = (task.artifacts ?? []).flatMap((artifact) => {
      const key = keyOf(task.id, artifact);
      const shown = this.#artifacts.get(key);
      const parts = unseenParts(artifact.parts, shown);
      this.#keep(key, artifact.parts);
      return shown !== undefined && parts.length === 0 ? [] : [{ ...artifact, parts }];
    });
    const history = task.history?.filter((one) => this.#isNews(one));
    return {
      ...task,
      artifacts,
      status: message === undefined || this.#isNews(message) ? task.status : status,
      ...(history !== undefined && { history }),
    };
  }

  #ofUpdate(event: Extract<StreamResponse, { artifactUpdate: unknown }>): StreamResponse {
    const { taskId, artifact, append } = event.artifactUpdate;
    const key = keyOf(taskId, artifact);
    const shown = this.#artifacts.get(key);
    if (append === true) {
      this.#keep(key, artifact.parts, shown);
      return event;
    }
    const parts = unseenParts(artifact.parts, shown);
    this.#keep(key, artifact.parts);
    if (shown === undefined || parts === artifact.parts) return event;
    return { artifactUpdate: { ...event.artifactUpdate, artifact: { ...artifact, parts }, append: true } };
  }

  #keep(key: string, parts: readonly Part[], { hash, length, others }: Shown = NOTHING): void {
    const text = textOf(parts);
    this.#artifacts.set(key, {
      hash: hash.copy().update(text, 'utf16le'),
      length: length + text.length,
      others: others + parts.filter((part) => part.text === undefined).length,
    });
  }

  /** True for a message at its first call. Compares texts too, because an agent may reuse an id. */
  #isNews({ messageId, parts }: Message): boolean {
    const digest = createHash('sha256')
      .update(JSON.stringify([messageId, parts]))
      .digest('base64');
    if (this.#messages.has(digest)) return false;
    this.#messages.add(digest);
    return true;
  }
}

/** Returns the parts after the printed ones, or all parts if they do not start with them. */
function unseenParts(parts: readonly Part[], shown: Shown | undefined): readonly Part[] {
  if (shown === undefined || !beginsWith(textOf(parts), shown)) return parts;
  let { length, others } = shown;
  return parts.flatMap((part): readonly Part[] => {
    if (part.text === undefined) return others-- > 0 ? [] : [part];
    const rest = part.text.slice(length);
    length = Math.max(0, length - part.text.length);
    return rest === '' ? [] : [{ ...part, text: rest }];
  });
}

function beginsWith(text: string, { hash, length }: Shown): boolean {
  if (text.length < length) return false;
  const beginning = createHash('sha256').update(text.slice(0, length), 'utf16le');
  return beginning.digest().equals(hash.copy().digest());
}

function keyOf(taskId: string, { artifactId }: Artifact): string {
  return `${taskId}\n${artifactId}`;
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
}
