import type { Artifact, Part, StreamResponse } from 'parley-a2a';

interface Shown {
  /** Text of the artifact so far. */
  readonly text: string;
  /** Number of its parts that are not text. */
  readonly others: number;
}

const NOTHING: Shown = { text: '', others: 0 };
/** Longer artifacts are not remembered: an update that replaces one is shown in full. */
const MOST_TEXT = 4 * 1_048_576;

/** Reduces artifacts to their new parts. An update may repeat a whole artifact that was shown in chunks. */
export class ArtifactNews {
  readonly #shown = new Map<string, Shown>();

  /** The event with the new parts of its artifact. A task stays as it is. */
  of(event: StreamResponse): StreamResponse {
    if ('task' in event) {
      for (const artifact of event.task.artifacts ?? []) this.keep(event.task.id, artifact);
      return event;
    }
    if (!('artifactUpdate' in event)) return event;
    const { taskId, artifact, append } = event.artifactUpdate;
    const key = keyOf(taskId, artifact);
    const shown = this.#shown.get(key);
    if (append === true) {
      this.#keep(key, artifact, shown);
      return event;
    }
    const parts = this.unseen(taskId, artifact);
    this.#keep(key, artifact);
    if (shown === undefined || parts === artifact.parts) return event;
    return { artifactUpdate: { ...event.artifactUpdate, artifact: { ...artifact, parts }, append: true } };
  }

  /** Remembers a whole artifact. */
  keep(taskId: string, artifact: Artifact): void {
    this.#keep(keyOf(taskId, artifact), artifact);
  }

  /**
   * Returns the parts after those that were shown, or all parts if the artifact does not begin with these.
   */
  unseen(taskId: string, artifact: Artifact): readonly Part[] {
    const { parts } = artifact;
    const shown = this.#shown.get(keyOf(taskId, artifact));
    if (shown === undefined || !textOf(artifact).startsWith(shown.text)) return parts;
    let text = shown.text.length;
    let others = shown.others;
    return parts.flatMap((part): readonly Part[] => {
      if (!('text' in part)) return others-- > 0 ? [] : [part];
      const rest = part.text.slice(text);
      text = Math.max(0, text - part.text.length);
      return rest === '' ? [] : [{ ...part, text: rest }];
    });
  }

  #keep(key: string, artifact: Artifact, { text, others }: Shown = NOTHING): void {
    const whole = text + textOf(artifact);
    const more = artifact.parts.filter((part) => !('text' in part)).length;
    if (whole.length > MOST_TEXT) this.#shown.delete(key);
    else this.#shown.set(key, { text: whole, others: others + more });
  }
}

function keyOf(taskId: string, { artifactId }: Artifact): string {
  return `${taskId}\n${artifactId}`;
}

function textOf({ parts }: Artifact): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('');
}
