import { signal } from '@preact/signals';
import type { Part, StreamResponse, Task } from 'parley-a2a';
import { STREAM_RESUME_EXTENSION, type TaskStream } from 'parley-a2a/client';
import { type Agent, failureOf, onConnection } from './agents.js';
import { eachFrame } from './frames.js';
import { afterEvent, isEnded, type TaskView, viewOf } from './task-view.js';
import { sendAnswer } from './waiting-tasks.js';

/** An event of a task. */
export interface TimelineEvent {
  /** Its number, if the agent numbers its events. */
  readonly sequence: string | undefined;
  /** The time at which this page received it. */
  readonly seenAt: number;
  /** True if it was sent before this page subscribed. */
  readonly isOld: boolean;
  readonly event: StreamResponse;
}

/** The facts of a watched task. */
export interface WatchedTask {
  readonly view: TaskView | undefined;
  /** The whole record, once it is loaded. */
  readonly task: Task | undefined;
  /** The latest events. The list is mutated: `count` shows a change. */
  readonly events: readonly TimelineEvent[];
  /** The number of all events so far, including those that the page has dropped. */
  readonly count: number;
  readonly isLive: boolean;
  readonly breaks: number;
  /** True if an event is missing between two others. */
  readonly hasGap: boolean;
  /** A sentence about a lost connection. */
  readonly interruption: string | undefined;
  readonly failure: string | undefined;
}

const NOTHING: WatchedTask = {
  view: undefined,
  task: undefined,
  events: [],
  count: 0,
  isLive: false,
  breaks: 0,
  hasGap: false,
  interruption: undefined,
  failure: undefined,
};

/** Maximum number of events in the page. The oldest are dropped, so that memory is bounded. */
const MOST_EVENTS = 20_000;

/** Follows one task from its first event that the agent still has. */
export class TaskWatch {
  readonly state = signal<WatchedTask>(NOTHING);
  readonly agent: Agent;
  readonly #id: string;
  readonly #events: TimelineEvent[] = [];
  #view: TaskView | undefined;
  #count = 0;
  #hasGap = false;
  #stream: TaskStream | undefined;
  #isClosed = false;

  constructor(agent: Agent, id: string) {
    this.agent = agent;
    this.#id = id;
    void this.#run();
  }

  /** Stops watching. The task continues. */
  close(): void {
    this.#isClosed = true;
    void this.#stream?.return();
  }

  /** Cancels the task. */
  async cancel(): Promise<void> {
    try {
      const task = await (await this.agent.client()).cancelTask(this.#id);
      this.#change({ task, view: viewOf(task) });
    } catch (error) {
      this.#change({ failure: `The task was not canceled: ${failureOf(this.agent, error)}` });
    }
  }

  /**
   * Sends an answer to the task, and continues to follow it.
   * @throws Error if the agent refuses the answer.
   */
  async answer(parts: readonly Part[]): Promise<void> {
    await sendAnswer(this.agent, { id: this.#id, contextId: this.#view?.contextId }, parts);
    if (this.state.value.isLive) return;
    // The subscription repeats the events from the first one.
    this.#events.length = 0;
    this.#count = 0;
    void this.#run();
  }

  async #run(): Promise<void> {
    await this.#read();
    const { task } = this.state.value;
    if (task === undefined) return;
    await this.#follow(task);
    if (!this.#isClosed) await this.#read();
  }

  async #read(): Promise<void> {
    try {
      const task = await (await this.agent.client()).getTask(this.#id);
      this.#view = viewOf(task);
      this.#change({ task, view: this.#view });
    } catch (error) {
      this.#change({ failure: failureOf(this.agent, error) });
    }
  }

  async #follow(task: Task): Promise<void> {
    const { capabilities } = this.agent.card;
    const isNumbered = capabilities.extensions?.some(({ uri }) => uri === STREAM_RESUME_EXTENSION) === true;
    if (capabilities.streaming !== true || (isEnded(task.status.state) && !isNumbered)) return;
    const show = eachFrame(() => this.#show());
    const forget = onConnection((event) => {
      if (event.taskId !== this.#id) return;
      const attempt = event.state === 'restored' ? undefined : `attempt ${event.attempt} of ${event.attempts}`;
      this.#change({ interruption: attempt && `Connection lost. Trying again: ${attempt}.` });
    });
    try {
      const client = await this.agent.client();
      // All events after number 0: the whole log.
      this.#stream = client.subscribeToTask(this.#id, isNumbered ? { lastEventId: '0' } : {});
      this.#change({ isLive: true });
      const stream = this.#stream;
      let view: TaskView | undefined;
      for await (const event of stream as AsyncIterable<StreamResponse>) {
        view = afterEvent(view, event);
        this.#add(event, stream.lastEventId);
        this.#view = view;
        show.soon();
      }
    } catch (error) {
      // The log of a task is kept for a time after its end. Later there are no events.
      if ((error as { code?: unknown }).code !== 'UNSUPPORTED_OPERATION')
        this.#change({ failure: failureOf(this.agent, error) });
    } finally {
      forget();
      show.now();
      this.#change({ isLive: false, interruption: undefined });
    }
  }

  #add(event: StreamResponse, sequence: string | undefined): void {
    const last = this.#events.at(-1)?.sequence;
    if (last !== undefined && sequence !== undefined && Number(sequence) !== Number(last) + 1) this.#hasGap = true;
    this.#count += 1;
    // In larger steps, because each one moves all later events.
    if (this.#events.length >= MOST_EVENTS) this.#events.splice(0, MOST_EVENTS / 10);
    this.#events.push({ sequence, seenAt: Date.now(), isOld: isEnded(this.#endState), event });
  }

  get #endState() {
    return this.state.value.task?.status.state ?? 'TASK_STATE_UNSPECIFIED';
  }

  #show(): void {
    const breaks = this.#stream?.breaks ?? 0;
    const [events, hasGap] = [this.#events, this.#hasGap];
    this.#change({ view: this.#view, events, count: this.#count, breaks, hasGap });
  }

  #change(change: Partial<WatchedTask>): void {
    if (!this.#isClosed) this.state.value = { ...this.state.value, ...change };
  }
}
