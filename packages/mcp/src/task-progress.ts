import type { Part, StreamResponse, TaskState } from 'parley-a2a';
import { ignoreRejection } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { shortenText } from './bounded-text.js';

const TEXT_LENGTH = 2_000;

const STATE_WORDS: Readonly<Record<TaskState, string>> = {
  TASK_STATE_UNSPECIFIED: 'The state of the task is unknown',
  TASK_STATE_SUBMITTED: 'The agent has the task',
  TASK_STATE_WORKING: 'The agent works',
  TASK_STATE_COMPLETED: 'The task is completed',
  TASK_STATE_FAILED: 'The task failed',
  TASK_STATE_CANCELED: 'The task is canceled',
  TASK_STATE_INPUT_REQUIRED: 'The agent asks for input',
  TASK_STATE_REJECTED: 'The agent rejected the task',
  TASK_STATE_AUTH_REQUIRED: 'The agent waits until access is granted',
};

/** The shortest time between two notifications of chunks, in ms. */
const PAUSE_MS = 500;

/**
 * Reports the events of a task as texts. Chunks of an artifact may be single tokens, so those within half a second
 * become one text, up to a maximum length.
 */
export class TaskProgress {
  readonly #send: (text: string) => Promise<void>;
  readonly #clock: Clock;
  #chunks = '';
  /** The artifact of the chunks. */
  #artifactId = '';
  /** Monotonic time of the last text. */
  #sentAt = Number.NEGATIVE_INFINITY;
  #stopTimer: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(send: (text: string) => Promise<void>, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Rejects if a text could not be sent. */
  async take(event: StreamResponse): Promise<void> {
    if (event.message !== undefined) return;
    if (event.artifactUpdate === undefined) {
      this.#flush();
      return this.#tell(statusText(event));
    }
    const { artifact, append } = event.artifactUpdate;
    if (!append || artifact.artifactId !== this.#artifactId) this.#flush();
    this.#artifactId = artifact.artifactId;
    this.#chunks += textIn(artifact.parts) || (append ? '' : `Artifact ${artifact.name ?? artifact.artifactId}`);
    const waitMs = this.#sentAt + PAUSE_MS - this.#clock.monotonic();
    if (waitMs <= 0 || this.#chunks.length >= TEXT_LENGTH) return this.#flush();
    this.#stopTimer ??= this.#clock.after(waitMs, () => ignoreRejection(this.#flush()));
  }

  /** Sends the last chunks. */
  end(): Promise<void> {
    return this.#flush();
  }

  #flush(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const text = this.#chunks;
    this.#chunks = '';
    return text === '' ? this.#sending : this.#tell(shortenText(text, TEXT_LENGTH));
  }

  #tell(text: string): Promise<void> {
    this.#sentAt = this.#clock.monotonic();
    this.#sending = ignoreRejection(this.#sending.then(() => this.#send(text)));
    return this.#sending;
  }
}

function statusText(
  event: Extract<StreamResponse, { readonly task: unknown } | { readonly statusUpdate: unknown }>,
): string {
  const { state, message } = event.task !== undefined ? event.task.status : event.statusUpdate.status;
  return stateText(state, message?.parts);
}

/** The text of a status: its message, or words for the state. */
export function stateText(state: TaskState, parts: readonly Part[] | undefined): string {
  return shortenText(textIn(parts ?? []) || STATE_WORDS[state], TEXT_LENGTH);
}

function textIn(parts: readonly Part[]): string {
  const texts = parts.map((part) => (part.text !== undefined ? part.text : ''));
  return texts.filter((text) => text !== '').join('\n');
}
