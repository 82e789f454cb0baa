import { eventFrames } from '../support/event-frames.js';

/** Everything that clients received from a server before it was killed. All of it must be stored. */
export interface Said {
  /** Task → sequence number → the event as it was shown. */
  readonly events: Map<string, Map<number, string>>;
  /** The states of tasks in the answers of blocking calls, by task id. */
  readonly answers: Map<string, string>;
  /** Calls that were under way or had failed when the connection broke. */
  broken: number;
}

/**
 * The load of a client on one server until the connection breaks: streams, blocking calls, answers to questions,
 * cancels.
 */
export class Load {
  readonly said: Said = { events: new Map(), answers: new Map(), broken: 0 };
  readonly #url: string;
  readonly #random: () => number;
  readonly #waiting: string[] = [];
  #count = 0;
  #stopped = false;

  constructor(url: string, random: () => number) {
    this.#url = url;
    this.#random = random;
  }

  /** Events that its clients have seen. */
  get eventCount(): number {
    return [...this.said.events.values()].reduce((sum, seen) => sum + seen.size, 0);
  }

  /** Runs `clients` clients at once; resolves when every one has lost its server or was stopped. */
  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#client()));
  }

  stop(): void {
    this.#stopped = true;
  }

  async #client(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#call();
      } catch {
        this.said.broken += 1;
        return;
      }
    }
  }

  async #call(): Promise<void> {
    const dice = this.#random();
    const asked = this.#waiting.length > 0 && dice < 0.2 ? this.#waiting.shift() : undefined;
    if (asked) return this.#answered('SendMessage', this.#message('ask answer', asked));
    if (dice < 0.5) return this.#stream(this.#message('long'));
    if (dice < 0.7) return this.#answered('SendMessage', this.#message('quick'));
    if (dice < 0.85) return this.#answered('SendMessage', this.#message('ask'));
    const task = await this.#unary('SendMessage', {
      ...this.#message('long'),
      configuration: { returnImmediately: true },
    });
    if (dice < 0.92) await this.#answered('CancelTask', { id: task.id });
  }

  #message(text: string, taskId?: string): object {
    this.#count += 1;
    const messageId = `m${this.#count}-${this.#random()}`;
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) } };
  }

  async #answered(method: string, params: object): Promise<void> {
    const task = await this.#unary(method, params);
    this.said.answers.set(task.id, task.status.state);
    if (task.status.state === 'TASK_STATE_INPUT_REQUIRED') this.#waiting.push(task.id);
  }

  async #unary(method: string, params: object): Promise<{ id: string; status: { state: string } }> {
    const response = await this.#post(method, params);
    const { result, error } = (await response.json()) as {
      result?: Record<string, never>;
      error?: { message: string };
    };
    // A refused cancel or message does not show anything about the store.
    if (error || !result) return { id: '', status: { state: error?.message ?? '' } };
    return ('task' in result ? result.task : result) as never;
  }

  async #stream(params: object): Promise<void> {
    const response = await this.#post('SendStreamingMessage', params);
    for await (const { id, data } of eventFrames(response)) {
      if (id !== undefined && data !== undefined) this.#shown(id, data);
    }
  }

  #shown(seq: number, data: string): void {
    const { result } = JSON.parse(data) as { result: Record<string, { id?: string; taskId?: string }> };
    const event = Object.values(result)[0];
    const taskId = event?.taskId ?? event?.id ?? '';
    const events = this.said.events.get(taskId) ?? new Map<number, string>();
    events.set(seq, JSON.stringify(result));
    this.said.events.set(taskId, events);
  }

  #post(method: string, params: object): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  }
}
