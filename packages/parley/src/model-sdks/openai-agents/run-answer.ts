import type { EventQueue } from '../../server/event-queue.js';

const BETWEEN = '\n\n';

/** The text of a run as one artifact. Held text is published when the run has ended. */
export class RunAnswer {
  readonly #events: EventQueue;
  readonly #artifactId: string;
  #isPublished = false;
  #isBetween = false;
  #hasText = false;
  #held = '';

  constructor(events: EventQueue, artifactId: string) {
    this.#events = events;
    this.#artifactId = artifactId;
  }

  get hasText(): boolean {
    return this.#hasText;
  }

  /** Adds text. A guardrail may still withhold held text. */
  async write(delta: string, isHeld: boolean): Promise<void> {
    if (delta === '') return;
    const text = this.#isBetween ? BETWEEN + delta : delta;
    this.#isBetween = false;
    this.#hasText = true;
    // Text that follows held text must not overtake it.
    if (isHeld || this.#held !== '') this.#held += text;
    else await this.#publish(text);
  }

  /** A message has ended. The next one begins after an empty line. */
  endMessage(): void {
    this.#isBetween = this.#hasText;
  }

  /** Publishes held text. */
  async release(): Promise<void> {
    const text = this.#held;
    this.#held = '';
    if (text !== '') await this.#publish(text);
  }

  async #publish(text: string): Promise<void> {
    const artifactId = this.#artifactId;
    if (this.#isPublished) return this.#events.append(artifactId, text);
    this.#isPublished = true;
    await this.#events.artifact(text, { artifactId, name: 'response' });
  }
}
