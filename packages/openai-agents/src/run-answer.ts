import type { JsonObject, JsonValue } from 'parley-a2a';
import { isObject, MORE_FOLLOWS } from 'parley-a2a/kit';
import type { EventQueue } from 'parley-a2a/server';
import { agentMetadata } from './run-agents.js';

const BETWEEN = '\n\n';

/** The text of a run as one artifact. Withheld text is published when the run has ended. */
export class RunAnswer {
  readonly #events: EventQueue;
  readonly artifactId: string;
  #published = '';
  #isPublished = false;
  #isBetween = false;
  #held = '';
  #agent: string | undefined;
  /** The agent that the artifact names. */
  #toldAgent: string | undefined;

  constructor(events: EventQueue, artifactId: string) {
    this.#events = events;
    this.artifactId = artifactId;
  }

  get hasText(): boolean {
    return this.#published !== '' || this.#held !== '';
  }

  /** The text so far, for `restore` in another process. */
  get state(): JsonObject {
    const agent = this.#agent === undefined ? {} : { agent: this.#agent };
    return { published: this.#published, held: this.#held, isBetween: this.#isBetween, ...agent };
  }

  /** Resumes from a state. Text that an earlier attempt wrote after it is removed from the artifact. */
  async restore(state: JsonValue | undefined, wasPublished: boolean): Promise<void> {
    const { published = '', held = '', isBetween = false, agent } = isObject(state) ? state : {};
    this.#published = String(published);
    this.#held = String(held);
    this.#isBetween = isBetween === true;
    this.#agent = typeof agent === 'string' ? agent : undefined;
    this.#isPublished = wasPublished;
    if (wasPublished) await this.#replace();
  }

  /** Adds text. `isHeld`: a guardrail may still withhold it. */
  async write(delta: string, isHeld: boolean): Promise<void> {
    if (delta === '') return;
    const text = this.#isBetween ? BETWEEN + delta : delta;
    this.#isBetween = false;
    // Text after withheld text waits for it, to keep the order.
    if (isHeld || this.#held !== '') this.#held += text;
    else await this.#publish(text);
  }

  /** Sets the agent that writes from now on. The artifact names the last one. */
  set agent(name: string) {
    this.#agent = name;
  }

  /** Ends a message. The next one begins after an empty line. */
  endMessage(): void {
    this.#isBetween = this.hasText;
  }

  /** Publishes withheld text. */
  async release(): Promise<void> {
    const text = this.#held;
    this.#held = '';
    if (text !== '') await this.#publish(text);
  }

  async #publish(text: string): Promise<void> {
    this.#published += text;
    if (this.#isPublished) return this.#events.append(this.artifactId, text, this.#agentChange());
    this.#isPublished = true;
    await this.#replace();
  }

  async #replace(): Promise<void> {
    const about = { artifactId: this.artifactId, name: 'response', ...MORE_FOLLOWS };
    this.#toldAgent = undefined;
    await this.#events.artifact(this.#published, { ...about, ...this.#agentChange() });
  }

  #agentChange(): { readonly metadata?: JsonObject } {
    if (this.#agent === this.#toldAgent || this.#agent === undefined) return {};
    this.#toldAgent = this.#agent;
    return { metadata: agentMetadata(this.#agent) };
  }
}
