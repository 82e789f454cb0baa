import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import { type Replica, restOf } from './replica.js';

/** An event stream of a replica, read without our client: events, their ids, comments and the end. */
export class EventFeed {
  readonly events: StreamResponse[] = [];
  readonly ids: number[] = [];
  comments = 0;
  /** The error frame that ended the stream. */
  error: unknown;
  #isOver = false;
  #changed: () => void = () => {};

  private constructor(body: ReadableStream<Uint8Array>) {
    void this.#read(body);
  }

  /** The stream of a new message. */
  static ofMessage(replica: Replica, text: string, agent = '/'): Promise<EventFeed> {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
    return EventFeed.#opened(replica.call(`${restOf(agent)}/message:stream`, { message }));
  }

  /** The stream of a task. */
  static ofTask(replica: Replica, id: string, lastEventId?: string): Promise<EventFeed> {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return EventFeed.#opened(replica.call(`/a2a/rest/tasks/${id}:subscribe`, {}, headers));
  }

  static async #opened(answering: Promise<Response>): Promise<EventFeed> {
    const answer = await answering;
    const type = answer.headers.get('content-type') ?? '';
    if (answer.body === null || !type.startsWith('text/event-stream')) {
      throw new Error(`${answer.status} ${await answer.text()}`);
    }
    return new EventFeed(answer.body);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async taskId(): Promise<string> {
    await this.has((events) => events.length > 0);
    const [first] = this.events;
    return first !== undefined && first.task !== undefined ? first.task.id : '';
  }

  /** Resolves when the events pass a check. */
  async has(test: (events: readonly StreamResponse[]) => boolean): Promise<void> {
    while (!test(this.events)) {
      if (this.#isOver) throw new Error(`The stream ended after ${JSON.stringify(this.events.at(-1))}`);
      await this.#change();
    }
  }

  /** Resolves at the end of the stream. */
  async waitForEnd(): Promise<void> {
    while (!this.#isOver) await this.#change();
  }

  #change(): Promise<void> {
    const before = this.#changed;
    return new Promise((resolve) => {
      this.#changed = () => {
        before();
        resolve();
      };
    });
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = '';
    try {
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        const frames = (rest + chunk).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) this.#take(frame);
        this.#tell();
      }
    } catch (error) {
      this.error = error;
    }
    this.#isOver = true;
    this.#tell();
  }

  #take(frame: string): void {
    if (frame.startsWith(':')) this.comments += 1;
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined) return;
    const value = JSON.parse(data) as StreamResponse & { readonly error?: unknown };
    if (value.error !== undefined) {
      this.error = value.error;
      return;
    }
    this.events.push(value);
    if (id !== undefined) this.ids.push(Number(id));
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = () => {};
    changed();
  }
}
