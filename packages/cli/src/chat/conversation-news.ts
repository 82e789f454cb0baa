import type { Artifact, Part, StreamResponse, Task } from 'parley-a2a';

interface Shown {
  /** Text of the artifact so far. */
  text: string;
  /** Number of its parts that are not text. */
  others: number;
}

/**
 * Reduces events to their new parts. A task event repeats the whole task, so parts of earlier turns and connections are
 * removed.
 */
export class ConversationNews {
  readonly #artifacts = new Map<string, Shown>();
  /** Ids of messages that were shown. */
  readonly #messages = new Set<string>();

  of(event: StreamResponse): StreamResponse {
    if ('task' in event) return { task: this.#taskNews(event.task) };
    if ('message' in event) return event;
    if ('statusUpdate' in event) {
      const { message } = event.statusUpdate.status;
      if (message === undefined || !this.#isShown(message.messageId)) return event;
      const { message: _, ...status } = event.statusUpdate.status;
      return { statusUpdate: { ...event.statusUpdate, status } };
    }
    const { artifactUpdate } = event;
    const { taskId, artifact, append } = artifactUpdate;
    if (append === true) this.#keep(taskId, artifact, this.#artifacts.get(keyOf(taskId, artifact)));
    else this.#keep(taskId, artifact);
    return event;
  }

  #taskNews(task: Task): Task {
    const { message, ...status } = task.status;
    const artifacts = (task.artifacts ?? []).flatMap((artifact) => {
      const parts = unseen(artifact.parts, this.#artifacts.get(keyOf(task.id, artifact)));
      this.#keep(task.id, artifact);
      return parts.length === 0 ? [] : [{ ...artifact, parts }];
    });
    const isNews = message !== undefined && !this.#isShown(message.messageId);
    return { ...task, artifacts, status: isNews ? task.status : status };
  }

  #isShown(messageId: string): boolean {
    if (this.#messages.has(messageId)) return true;
    this.#messages.add(messageId);
    return false;
  }

  #keep(taskId: string, artifact: Artifact, { text, others }: Shown = { text: '', others: 0 }): void {
    const more = artifact.parts.map((part) => ('text' in part ? part.text : ''));
    const moreOthers = artifact.parts.filter((part) => !('text' in part)).length;
    this.#artifacts.set(keyOf(taskId, artifact), { text: text + more.join(''), others: others + moreOthers });
  }
}

function keyOf(taskId: string, { artifactId }: Artifact): string {
  return `${taskId}\n${artifactId}`;
}

/**
 * Returns the parts after those that were shown. Returns all parts if the artifact does not begin with the shown ones.
 */
function unseen(parts: readonly Part[], shown: Shown | undefined): readonly Part[] {
  const whole = parts.map((part) => ('text' in part ? part.text : '')).join('');
  if (shown === undefined || !whole.startsWith(shown.text)) return parts;
  let text = shown.text.length;
  let others = shown.others;
  return parts.flatMap((part): readonly Part[] => {
    if (!('text' in part)) return others-- > 0 ? [] : [part];
    const rest = part.text.slice(text);
    text = Math.max(0, text - part.text.length);
    return rest === '' ? [] : [{ ...part, text: rest }];
  });
}
