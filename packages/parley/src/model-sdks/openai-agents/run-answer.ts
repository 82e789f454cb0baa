import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import { type EventQueue, MORE_FOLLOWS } from '../../server/event-queue.js';

const BETWEEN = '\n\n';

/** The text of a run as one artifact. Held text is published when the run has ended. */
export class RunAnswer {
  readonly #events: EventQueue;
  readonly artifactId: string;
  #published = '';
  #isPublished = false;
  #isBetween = false;
  #held = '';

  constructor(events: EventQueue, artifactId: string) {
    this.#events = events;
    this.artifactId = artifactId;
  }

  get hasText(): boolean {
    return this.#published !== '' || this.#held !== '';
  }

  /** The text so far, for `restore` in another process. */
  get state(): JsonObject {
    return { published: this.#published, held: this.#held, isBetween: this.#isBetween };
  }

  /** Goes on from a state. Text that an earlier attempt has written after it disappears from the artifact. */
  async restore(state: JsonValue | undefined, wasPublished: boolean): Promise<void> {
    const { published = '', held = '', isBetween = false } = isObject(state) ? state : {};
    this.#published = String(published);
    this.#held = String(held);
    this.#isBetween = isBetween === true;
    this.#isPublished = wasPublished;
    if (wasPublished) await this.#replace();
  }

  /** Adds text. A guardrail may still withhold held text. */
  async write(delta: string, isHeld: boolean): Promise<void> {
    if (delta === '') return;
    const text = this.#isBetween ? BETWEEN + delta : delta;
    this.#isBetween = false;
    // Text that follows held text must not overtake it.
    if (isHeld || this.#held !== '') this.#held += text;
    else await this.#publish(text);
  }

  /** A message has ended. The next one begins after an empty line. */
  endMessage(): void {
    this.#isBetween = this.hasText;
  }

  /** Publishes held text. */
  async release(): Promise<void> {
    const text = this.#held;
    this.#held = '';
    if (text !== '') await this.#publish(text);
  }

  async #publish(text: string): Promise<void> {
    this.#published += text;
    if (this.#isPublished) return this.#events.append(this.artifactId, text);
    this.#isPublished = true;
    await this.#replace();
  }

  async #replace(): Promise<void> {
    await this.#events.artifact(this.#published, { artifactId: this.artifactId, name: 'response', ...MORE_FOLLOWS });
  }
}
