import type { EventQueue, TaskState } from 'parley-a2a';

type Status = Parameters<EventQueue['complete']>;

/**
 * The queue of a turn, which also tells the last state that the agent has published by a method. It is an object of its
 * own, because methods that are replaced on the queue itself slow down every event of the turn.
 */
export class WatchedEvents implements EventQueue {
  last: TaskState | undefined;
  readonly #events: EventQueue;

  constructor(events: EventQueue) {
    this.#events = events;
  }

  working(...status: Status): Promise<void> {
    return this.#events.working(...status);
  }

  artifact(...artifact: Parameters<EventQueue['artifact']>): Promise<string> {
    return this.#events.artifact(...artifact);
  }

  append(...chunk: Parameters<EventQueue['append']>): Promise<void> {
    return this.#events.append(...chunk);
  }

  inputRequired(...status: Status): Promise<void> {
    this.last = 'TASK_STATE_INPUT_REQUIRED';
    return this.#events.inputRequired(...status);
  }

  authRequired(...status: Status): Promise<void> {
    this.last = 'TASK_STATE_AUTH_REQUIRED';
    return this.#events.authRequired(...status);
  }

  complete(...status: Status): Promise<void> {
    this.last = 'TASK_STATE_COMPLETED';
    return this.#events.complete(...status);
  }

  fail(...status: Status): Promise<void> {
    this.last = 'TASK_STATE_FAILED';
    return this.#events.fail(...status);
  }

  reject(...status: Status): Promise<void> {
    this.last = 'TASK_STATE_REJECTED';
    return this.#events.reject(...status);
  }

  cancel(...status: Status): Promise<void> {
    this.last = 'TASK_STATE_CANCELED';
    return this.#events.cancel(...status);
  }

  message(...message: Parameters<EventQueue['message']>): Promise<void> {
    return this.#events.message(...message);
  }

  publish(...event: Parameters<EventQueue['publish']>): Promise<void> {
    return this.#events.publish(...event);
  }

  flush(): Promise<void> {
    return this.#events.flush();
  }
}
