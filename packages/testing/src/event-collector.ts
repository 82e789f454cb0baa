import type { StreamResponse, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent } from 'parley-a2a';
import { refuseArgument } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { describeEvent, isFinal, isWaiting, type StreamEventOf, type StreamEventType, statusOf } from './event-view.js';
import { DEFAULT_WAIT_MS, WaitTimeoutError } from './waits.js';

/** The bound of a wait of a collector. */
export interface CollectorWaitOptions {
  /** Time limit in ms; default 5,000. */
  readonly timeoutMs?: number;
}

/** Reads a stream from its start to its end, or gets events by a callback, and stores the events. */
export class StreamCollector {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #events: StreamResponse[] = [];
  readonly #looks = new Set<() => void>();
  readonly #source: AsyncIterator<StreamResponse> | undefined;
  #hasEnded = false;
  #error: unknown;

  constructor(source: AsyncIterable<StreamResponse> | undefined, clock: Pick<Clock, 'after'>) {
    if (source !== undefined && typeof Object(source)[Symbol.asyncIterator] !== 'function')
      refuseArgument('EventCollector', 'a stream of events', source);
    this.#clock = clock;
    this.#source = source?.[Symbol.asyncIterator]();
    if (this.#source !== undefined) void this.#read(this.#source);
  }

  /** Adds one event. Pass it to code that calls a function with each event, such as the handler of a receiver. */
  readonly take = (event: StreamResponse): void => {
    if (this.#hasEnded) throw new Error('The collector has ended, and takes no more events');
    this.#events.push(event);
    this.#look();
  };

  /** Ends a collector without a stream. `error`: rejects its waits. */
  end(error?: unknown): void {
    this.#error = error;
    this.#hasEnded = true;
    this.#look();
  }

  /** The events so far. */
  get events(): readonly StreamResponse[] {
    return this.#events;
  }

  /** True once the stream has ended, also with an error. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The error that ended the stream. */
  get error(): unknown {
    return this.#error;
  }

  get statusUpdates(): readonly TaskStatusUpdateEvent[] {
    return this.byType('statusUpdate').map(({ statusUpdate }) => statusUpdate);
  }

  get artifactUpdates(): readonly TaskArtifactUpdateEvent[] {
    return this.byType('artifactUpdate').map(({ artifactUpdate }) => artifactUpdate);
  }

  /** The states in the events, in their order. */
  get states(): readonly TaskState[] {
    return this.#events.flatMap((event) => statusOf(event)?.state ?? []);
  }

  /** The text of all artifact updates, joined. */
  get text(): string {
    const parts = this.artifactUpdates.flatMap(({ artifact }) => artifact.parts);
    return parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
  }

  /** The events of one type so far. */
  byType<Type extends StreamEventType>(type: Type): readonly StreamEventOf<Type>[] {
    return this.#events.filter((event): event is StreamEventOf<Type> => type in event);
  }

  /**
   * Resolves to the first event for which a predicate returns true, including earlier ones.
   * @throws the error of the stream, or WaitTimeoutError when the stream or the time ends without such an event.
   */
  waitForEvent(
    predicate: (event: StreamResponse) => boolean,
    { timeoutMs = DEFAULT_WAIT_MS, what = 'an event' }: CollectorWaitOptions & { readonly what?: string } = {},
  ): Promise<StreamResponse> {
    return new Promise((resolve, reject) => {
      let taken = 0;
      const stop = (): void => {
        stopTimer();
        this.#looks.delete(look);
      };
      const fail = (reason: string): void => {
        stop();
        reject(new WaitTimeoutError(`${what} (${reason}; ${this.#describe()})`, timeoutMs));
      };
      const look = (): void => {
        for (; taken < this.#events.length; taken += 1) {
          const event = this.#events[taken];
          if (event === undefined || !predicate(event)) continue;
          stop();
          resolve(event);
          return;
        }
        if (!this.#hasEnded) return;
        if (this.#error === undefined) return fail('the stream has ended');
        stop();
        reject(this.#error);
      };
      const stopTimer = this.#clock.after(timeoutMs, () => fail('the time is over'));
      this.#looks.add(look);
      look();
    });
  }

  /** Resolves to the first event with a state. Throws as `waitForEvent`. */
  waitForState(state: TaskState, options: CollectorWaitOptions = {}): Promise<StreamResponse> {
    return this.waitForEvent((event) => statusOf(event)?.state === state, { ...options, what: state });
  }

  /**
   * Resolves to the event that ends the turn: a terminal state, a direct message, or a question to the caller. Throws
   * as `waitForEvent`.
   */
  waitForFinal(options: CollectorWaitOptions = {}): Promise<StreamResponse> {
    return this.waitForEvent((event) => isFinal(event) || isWaiting(event), { ...options, what: 'the final event' });
  }

  /**
   * Resolves to all events once the stream has ended.
   * @throws the error of the stream, or WaitTimeoutError.
   */
  waitForEnd({ timeoutMs = DEFAULT_WAIT_MS }: CollectorWaitOptions = {}): Promise<readonly StreamResponse[]> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!this.#hasEnded) return;
        stopTimer();
        this.#looks.delete(look);
        if (this.#error === undefined) resolve(this.#events);
        else reject(this.#error);
      };
      const stopTimer = this.#clock.after(timeoutMs, () => {
        this.#looks.delete(look);
        reject(new WaitTimeoutError(`the end of the stream (${this.#describe()})`, timeoutMs));
      });
      this.#looks.add(look);
      look();
    });
  }

  /** Stops reading the stream. */
  async stop(): Promise<void> {
    await this.#source?.return?.();
  }

  async #read(source: AsyncIterator<StreamResponse>): Promise<void> {
    try {
      for (let next = await source.next(); next.done !== true; next = await source.next()) this.take(next.value);
      this.end();
    } catch (error) {
      this.end(error);
    }
  }

  #look(): void {
    for (const look of [...this.#looks]) look();
  }

  #describe(): string {
    if (this.#events.length === 0) return 'no event came';
    return `${this.#events.length} events came, the last was ${describeEvent(this.#events.at(-1))}`;
  }
}
