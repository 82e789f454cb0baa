import type { EventQueue } from 'parley-a2a';

type Status = Parameters<EventQueue['complete']>;

/** Maximum characters of the collected texts of one turn. */
const MOST_KEPT = 65_536;

/**
 * The queue of a turn, which also collects its texts. A separate object, because replaced methods on the queue slow
 * down every event.
 */
export class WatchedEvents implements EventQueue {
  #text = '';
  readonly #events: EventQueue;

  constructor(events: EventQueue) {
    this.#events = events;
  }

  /** The first texts of the agent, one per line. */
  get text(): string {
    return this.#text;
  }

  working(...status: Status): Promise<void> {
    return this.#events.working(...status);
  }

  artifact(...artifact: Parameters<EventQueue['artifact']>): Promise<string> {
    this.#keep(artifact[0]);
    return this.#events.artifact(...artifact);
  }

  append(...chunk: Parameters<EventQueue['append']>): Promise<void> {
    this.#keep(chunk[1]);
    return this.#events.append(...chunk);
  }

  inputRequired(...status: Status): Promise<void> {
    this.#keep(status[0]);
    return this.#events.inputRequired(...status);
  }

  authRequired(...status: Status): Promise<void> {
    this.#keep(status[0]);
    return this.#events.authRequired(...status);
  }

  complete(...status: Status): Promise<void> {
    this.#keep(status[0]);
    return this.#events.complete(...status);
  }

  fail(...status: Status): Promise<void> {
    this.#keep(status[0]);
    return this.#events.fail(...status);
  }

  reject(...status: Status): Promise<void> {
    this.#keep(status[0]);
    return this.#events.reject(...status);
  }

  cancel(...status: Status): Promise<void> {
    this.#keep(status[0]);
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

  #keep(content: unknown): void {
    if (typeof content !== 'string' || this.#text.length >= MOST_KEPT) return;
    this.#text = (this.#text === '' ? content : `${this.#text}\n${content}`).slice(0, MOST_KEPT);
  }
}
