import type { StreamResponse } from '../model/stream-response.js';
import type { TaskStatus } from '../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../model/task-state.js';
import type { ReceivedEvent } from './client-transport.js';

/** The end of a stream: that of a message with its turn, that of a task with the task (Spec §3.1.2). */
export type StreamSpan = 'turn' | 'task';

/** How far a stream has come, by what has arrived of it. */
export class StreamProgress {
  readonly #span: StreamSpan;
  /** The message continues a task, whose state the first snapshot may show as it was before. */
  readonly #continues: boolean;
  #taskId: string | undefined;
  #contextId: string | undefined;
  #status: TaskStatus | undefined;
  #before: string | undefined;
  #answered = false;
  #lastId: string | undefined;
  #begun = false;
  #afresh = true;
  /** The last event, where it was a snapshot after a break. */
  #snapshot: string | undefined;

  constructor(
    span: StreamSpan,
    known: { readonly taskId?: string | undefined; readonly lastEventId?: string | undefined },
  ) {
    this.#span = span;
    this.#continues = span === 'turn' && known.taskId !== undefined;
    // The task of a message is known for sure once the agent has named it.
    if (span === 'task') this.#taskId = known.taskId;
    this.#lastId = known.lastEventId;
  }

  get taskId(): string | undefined {
    return this.#taskId;
  }

  get contextId(): string | undefined {
    return this.#contextId;
  }

  get state(): TaskState | undefined {
    return this.#status?.state;
  }

  get lastEventId(): string | undefined {
    return this.#lastId;
  }

  /** Whether anything has arrived. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Whether nothing can follow: the task has ended, or the answer was a message. */
  get isOver(): boolean {
    return this.#answered || (this.#status !== undefined && isTerminal(this.#status.state));
  }

  /** Whether the task waits for its caller now, and did not merely do so before the message. */
  get isWaiting(): boolean {
    const status = this.#status;
    if (status === undefined || !isInterrupted(status.state)) return false;
    return this.#before === undefined || this.#before !== JSON.stringify(status);
  }

  /** Whether the turn of the message is over, although its task is not. */
  get asksForInput(): boolean {
    return this.#span === 'turn' && this.isWaiting && this.#status?.state === 'TASK_STATE_INPUT_REQUIRED';
  }

  /** From now on events come from a new connection. */
  reconnect(): void {
    this.#afresh = true;
  }

  /** Takes an event in; false where it tells nothing new. */
  take({ event, id }: ReceivedEvent): boolean {
    // A snapshot that opens a connection stands for itself, whatever its number: the agent may not have the rest any more.
    const isSnapshot = this.#afresh && 'task' in event;
    this.#afresh = false;
    const snapshot = isSnapshot && this.#begun ? JSON.stringify(event) : undefined;
    if (snapshot !== undefined && snapshot === this.#snapshot) return false;
    this.#snapshot = snapshot;
    if (id !== undefined) {
      if (!isSnapshot && this.#lastId !== undefined && Number(id) <= Number(this.#lastId)) return false;
      this.#lastId = id;
    }
    this.#learn(event);
    this.#begun = true;
    return true;
  }

  #learn(event: StreamResponse): void {
    if ('artifactUpdate' in event) {
      this.#taskId ??= event.artifactUpdate.taskId;
      this.#contextId ??= event.artifactUpdate.contextId;
    } else if ('statusUpdate' in event) {
      const { taskId, contextId, status } = event.statusUpdate;
      this.#taskId ??= taskId;
      this.#contextId ??= contextId;
      this.#status = status;
      this.#before = undefined;
    } else if ('task' in event) {
      const { id, contextId, status } = event.task;
      this.#taskId ??= id;
      this.#contextId ??= contextId;
      this.#status = status;
      if (this.#continues && !this.#begun) this.#before = JSON.stringify(status);
    } else {
      this.#contextId ??= event.message.contextId;
      this.#answered = true;
    }
  }
}
