import type { StreamResponse } from '../model/stream-response.js';
import type { TaskStatus } from '../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../model/task-state.js';
import type { ReceivedEvent } from './client-transport.js';
import type { StreamFacts, StreamRules } from './stream-policy.js';

/** Facts about a task, from the events of its stream. */
export class StreamProgress implements StreamFacts {
  readonly rules: StreamRules;
  /** True if the message continues a task. The first snapshot may then show the status from before the message. */
  readonly #continues: boolean;
  #taskId: string | undefined;
  #contextId: string | undefined;
  #status: TaskStatus | undefined;
  /** The JSON of the status before the message. */
  #before: string | undefined;
  #answered = false;
  #lastId: string | undefined;
  #begun = false;
  #afresh = true;
  /** Number of gaps after which the stream reconnected, and the last event before the latest gap. */
  #gaps = 0;
  #gapAfter: string | undefined;
  /** The JSON of the last event if that was a snapshot after a reconnection. */
  #snapshot: string | undefined;

  constructor(
    rules: StreamRules,
    known: { readonly taskId?: string | undefined; readonly lastEventId?: string | undefined },
  ) {
    this.rules = rules;
    this.#continues = rules.span === 'turn' && known.taskId !== undefined;
    // The agent may answer a message with another task, so its own first event decides.
    if (rules.span === 'task') this.#taskId = known.taskId;
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

  get isOver(): boolean {
    return this.#answered || (this.#status !== undefined && isTerminal(this.#status.state));
  }

  /** True if the task waits for its caller now; false if only its status before the message did. */
  get isWaiting(): boolean {
    const status = this.#status;
    if (status === undefined || !isInterrupted(status.state)) return false;
    return this.#before === undefined || this.#before !== JSON.stringify(status);
  }

  get asksForInput(): boolean {
    return this.rules.span === 'turn' && this.isWaiting && this.#status?.state === 'TASK_STATE_INPUT_REQUIRED';
  }

  /** Marks the next event as the first of a new connection. */
  reconnect(): void {
    this.#afresh = true;
  }

  /**
   * True if events before this one were lost, so that the stream must resume after the last good one. An agent that
   * resumes numbers its events without gaps. A gap that appears again after the reconnection is accepted. After
   * `attempts` gaps all further ones are accepted, so that jumping numbers cannot cause endless reconnections.
   */
  isAfterGap({ event, id }: ReceivedEvent): boolean {
    const { resumable, attempts } = this.rules;
    const last = this.#lastId;
    if (!resumable || id === undefined || last === undefined || this.#taskId === undefined) return false;
    if ((this.#afresh && event.task !== undefined) || !(Number(id) > Number(last) + 1)) return false;
    if (last === this.#gapAfter || this.#gaps >= attempts) return false;
    this.#gaps += 1;
    this.#gapAfter = last;
    return true;
  }

  /** Records an event. Returns false if the event is a repetition. */
  take({ event, id }: ReceivedEvent): boolean {
    // The agent may have dropped the events before a snapshot, so a snapshot counts even if its id is lower.
    const isSnapshot = this.#afresh && event.task !== undefined;
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
    if (event.artifactUpdate !== undefined) {
      this.#taskId ??= event.artifactUpdate.taskId;
      this.#contextId ??= event.artifactUpdate.contextId;
    } else if (event.statusUpdate !== undefined) {
      const { taskId, contextId, status } = event.statusUpdate;
      this.#taskId ??= taskId;
      this.#contextId ??= contextId;
      this.#status = status;
      this.#before = undefined;
    } else if (event.task !== undefined) {
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
