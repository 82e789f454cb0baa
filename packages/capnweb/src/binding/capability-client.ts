import type { RawPart, SendMessageResponse, StreamResponse, Task } from 'parley-a2a';
import { clientV1_0, observeStream } from 'parley-a2a/binding-kit';
import type { CallOptions, Client, OutgoingMessage, SendInput, TaskStream } from 'parley-a2a/client';
import { BY_VERB, isObject } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { IN_SESSION, type InSession, invalidAnswer } from './capnweb-client-transport.js';
import { disposeOf } from './client-feed.js';
import { streamedFiles, type TaskFile } from './client-files.js';
import type { Remote, RemoteAgent, RemoteTask } from './client-remotes.js';
import type { ClientSession, ReadAnswer } from './client-session.js';
import { ClientWatch, type WatchCallback, type WatchSubscription } from './client-watch.js';
import { fromWire, toWire } from './wire-values.js';

/** File content: base64, bytes, or a stream of bytes. */
export type FileContent = string | Uint8Array | ReadableStream<Uint8Array>;

/** A message whose files may be bytes and streams of bytes. */
export type StreamedMessage = Omit<OutgoingMessage, 'parts'> & {
  readonly parts: readonly (Exclude<OutgoingMessage['parts'][number], RawPart> | StreamedPart)[];
};

/** The input of a send. */
type StreamedInput = Omit<Exclude<SendInput, string>, 'message'> & { readonly message: StreamedMessage };

/** A file of a message. */
export type StreamedPart = Omit<RawPart, 'raw'> & { readonly raw: FileContent };

/** The ports of a capability client. */
export interface CapabilityPorts {
  readonly clock: Clock;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  /** Maximum bytes of files in an answer. */
  readonly answerBytes: number;
  /** Number of sessions in a row without an event after which a watch fails. */
  readonly attempts: number;
}

/** The ports of the tasks of one agent. */
interface TaskPorts extends CapabilityPorts {
  /** Aborted when the agent object is closed. */
  readonly closing: AbortSignal;
}

/**
 * An agent as an object, over Cap'n Web sessions. Calls are pipelined: a call on the task of a message is sent together
 * with the message. After a lost connection, objects reconnect and authenticate by themselves.
 */
export class CapnwebAgent implements Disposable {
  /** A client of the same agent with all operations. Its streams resume. */
  readonly client: Client;
  readonly #ports: TaskPorts;
  readonly #closing = new AbortController();

  constructor(client: Client, ports: CapabilityPorts) {
    this.client = client;
    this.#ports = { ...ports, closing: this.#closing.signal };
  }

  /** Sends a message. Its task can be used before the answer arrives. */
  send(input: string | StreamedInput, options: CallOptions = {}): SentMessage {
    const started = Promise.withResolvers<EarlyTask>();
    let early: EarlyTask | undefined;
    const own = new OwnStreams();
    const answer = this.client[BY_VERB.send](
      withSession(input as SendInput, (request, session, signal) =>
        own.unlessFailed(
          session.call(
            (agent) => {
              const remote = agent[BY_VERB.send](toWire(own.watchStreams(request)));
              // The agent resolves the task from its own answer, so that calls are not delayed here.
              const { id } = (remote as unknown as { readonly task: { readonly id: unknown } }).task;
              early = { agent, task: agent.task(id), isOver: false };
              started.resolve(early);
              return remote;
            },
            signal,
            this.#plain,
          ),
        ),
      ),
      options,
    );
    const decoded = answer
      .finally(() => {
        if (early === undefined) return;
        early.isOver = true;
        disposeOf(early.task);
      })
      .then((value) => clientV1_0.decodeResponse(BY_VERB.send, value));
    // A message that was not sent has no task.
    decoded.catch(started.reject);
    started.promise.catch(() => {});
    const id = decoded.then((value) => {
      if (value.task !== undefined) return value.task.id;
      throw invalidAnswer('The agent answered with a message, so that there is no task');
    });
    id.catch(() => {});
    const task = new CapnwebTask(this.client, this.#ports, { id, early: () => early ?? started.promise });
    return { answer: decoded as Promise<SendMessageResponse>, task };
  }

  /** A task by its id. The agent checks its owner with the first call. */
  task(id: string): CapnwebTask {
    return new CapnwebTask(this.client, this.#ports, { id: Promise.resolve(id), early: undefined });
  }

  /** Ends the connection, and all streams and watches. The agent cannot be used after it. */
  close(): void {
    this.#closing.abort();
    this.client.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  readonly #plain = (value: unknown): unknown =>
    fromWire(value, { streamBytes: this.#ports.answerBytes, fault: invalidAnswer });
}

/** A message that is being sent. */
export interface SentMessage {
  readonly answer: Promise<SendMessageResponse>;
  /** The task of the message. Its calls fail if the agent answers without a task. */
  readonly task: CapnwebTask;
}

/** The task of a message without an answer yet, in the session of the message. */
interface EarlyTask {
  readonly agent: RemoteAgent;
  readonly task: RemoteTask;
  /** True once the answer has arrived. */
  isOver: boolean;
}

interface TaskPlace {
  readonly id: Promise<string>;
  /** Waits until the message has been sent. */
  readonly early: (() => EarlyTask | Promise<EarlyTask>) | undefined;
}

/** A task that its holder can read and follow, but not change. */
export interface CapnwebTaskView {
  get(options?: CallOptions & { readonly historyLength?: number }): Promise<Task>;
  /** The events of the task, each once and in order, over as many connections as necessary. */
  subscribe(options?: CallOptions & { readonly after?: number }): CapnwebFeed;
}

/** One task as an object. */
export class CapnwebTask implements CapnwebTaskView {
  readonly #client: Client;
  readonly #ports: TaskPorts;
  readonly #place: TaskPlace;

  constructor(client: Client, ports: TaskPorts, place: TaskPlace) {
    this.#client = client;
    this.#ports = ports;
    this.#place = place;
  }

  /** The id, once the agent has named it. */
  get id(): Promise<string> {
    return this.#place.id;
  }

  /** Gets the task. */
  async get({ historyLength, ...options }: CallOptions & { readonly historyLength?: number } = {}): Promise<Task> {
    const wanted = historyLength === undefined ? {} : { historyLength };
    return this.#task(await this.#call((task) => task.get(wanted), options));
  }

  /** Cancels the task. */
  async cancel(options: CallOptions = {}): Promise<Task> {
    return this.#task(await this.#call((task) => task.cancel(), options));
  }

  /** Sends a message to the task. */
  async send(message: string | StreamedMessage, options: CallOptions = {}): Promise<SendMessageResponse> {
    const own = new OwnStreams();
    const said = typeof message === 'string' ? { parts: [{ text: message }] } : message;
    const answer = await this.#client[BY_VERB.send](
      withSession({ message: said } as SendInput, (request, session, signal) => {
        const { message: whole } = own.watchStreams(request) as { readonly message: object };
        const make = (task: RemoteTask) => task.send(toWire(whole));
        return own.unlessFailed(this.#onTask(session, signal, { make, read: this.#plain }));
      }),
      options,
    );
    return clientV1_0.decodeResponse(BY_VERB.send, answer) as SendMessageResponse;
  }

  /** The events of the task, each once and in order, over as many connections as necessary. */
  subscribe({ after, ...options }: CallOptions & { readonly after?: number } = {}): CapnwebFeed {
    const place = after === undefined ? {} : { lastEventId: String(after) };
    return new CapnwebFeed(this.id.then((id) => this.#client[BY_VERB.subscribe](id, { ...options, ...place })));
  }

  /**
   * Calls a function with batches of the task's events, until the task has ended. The next batch waits until the
   * function has returned. A function that throws ends only its own watch. The watch continues after a lost connection.
   */
  watch(callback: WatchCallback, options: CallOptions & { readonly after?: number } = {}): WatchSubscription {
    const { after, ...others } = options;
    return new ClientWatch({
      callback,
      after,
      ports: this.#ports,
      isClosed: () => this.#client.isClosed,
      closing: this.#ports.closing,
      start: async (sink, last, ended) => {
        const wanted = last === undefined ? {} : { after: last };
        return this.#inSession(others, async (session, signal) => {
          const release = session.hold(ended);
          try {
            const make = (task: RemoteTask) => task.watch(sink, wanted);
            const subscription = await this.#onTask(session, signal, { make, read: (answer) => answer });
            return { subscription, release };
          } catch (error) {
            release();
            throw error;
          }
        });
      },
    });
  }

  /** The files of the artifacts, as streams. Read or cancel each of them. */
  async files(options: CallOptions = {}): Promise<readonly TaskFile[]> {
    return this.#inSession(options, async (session, signal) => {
      const make = (task: RemoteTask) => task.get({ historyLength: 0 });
      return this.#onTask(session, signal, {
        make,
        read: (answer) => streamedFiles(answer, (ended) => session.hold(ended)),
      });
    });
  }

  /** The task without the right to change it, to pass on. */
  view(): CapnwebTaskView {
    return {
      get: async ({ historyLength, ...options } = {}) => {
        const wanted = historyLength === undefined ? {} : { historyLength };
        const read = (task: RemoteTask) => {
          const view = task.view();
          return releaseAfter(view, view.get(wanted));
        };
        return this.#task(await this.#call(read, options));
      },
      subscribe: (options) => this.subscribe(options),
    };
  }

  #call(make: TaskCall<unknown>['make'], options: CallOptions): Promise<unknown> {
    return this.#inSession(options, (session, signal) => this.#onTask(session, signal, { make, read: this.#plain }));
  }

  /** Runs a call in the session of the caller, with the same credentials, interceptors and log as all other calls. */
  async #inSession<T>(
    options: CallOptions,
    run: (session: ClientSession, signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    // The message is sent first.
    await this.#place.early?.();
    const request = withSession({ id: '' }, (_, session, signal) => run(session, signal));
    const answer: Promise<unknown> = this.#client[BY_VERB.get](request, options);
    return answer as Promise<T>;
  }

  /** Calls the task in a session. Waits for the answer to its message only if that was sent in another session. */
  async #onTask<T>(session: ClientSession, signal: AbortSignal | undefined, { make, read }: TaskCall<T>): Promise<T> {
    const early = await this.#place.early?.();
    if (early !== undefined && !early.isOver && session.agent === early.agent)
      return session.call(() => make(early.task), signal, read);
    const id = await this.#place.id;
    return session.call(
      (agent) => {
        const task = agent.task(id);
        return releaseAfter(task, make(task));
      },
      signal,
      read,
    );
  }

  async #task(value: unknown): Promise<Task> {
    return clientV1_0.decodeResponse(BY_VERB.get, value);
  }

  readonly #plain = (value: unknown): unknown =>
    fromWire(value, { streamBytes: this.#ports.answerBytes, fault: invalidAnswer });
}

/** A call of a task, and the reader of its answer. */
interface TaskCall<T> {
  readonly make: (task: RemoteTask) => Remote<unknown>;
  readonly read: ReadAnswer<T>;
}

/** The streams in a message of the caller. An error of a stream becomes the error of the call. */
class OwnStreams {
  #failure: { readonly error: unknown } | undefined;

  /** Returns the request with streams that record their errors. */
  watchStreams(request: object): object {
    const { message } = request as { readonly message?: { readonly parts?: unknown } };
    if (!Array.isArray(message?.parts) || !message.parts.some(hasStream)) return request;
    const failed = (error: unknown): void => {
      this.#failure ??= { error };
    };
    const parts = message.parts.map((part: unknown) =>
      hasStream(part) ? { ...part, raw: observeStream(part.raw, { take: () => {}, failed }) } : part,
    );
    return { ...request, message: { ...message, parts } };
  }

  async unlessFailed<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.#failure === undefined ? error : this.#failure.error;
    }
  }
}

function hasStream(part: unknown): part is { readonly raw: ReadableStream<Uint8Array> } {
  return isObject(part) && part.raw instanceof ReadableStream;
}

/** Releases an object after its only call was sent. */
function releaseAfter(object: unknown, call: Remote<unknown>): Remote<unknown> {
  disposeOf(object);
  return call;
}

/** The same request, to be run in the session of the call. */
function withSession<Request extends SendInput | { readonly id: string }>(
  request: Request,
  run: (request: object, session: ClientSession, signal: AbortSignal | undefined) => Promise<unknown>,
): Request {
  const whole: object = typeof request === 'string' ? { message: request } : request;
  const inSession: InSession = {
    // The client completes the request, such as with the id of the message, and calls this with the result.
    [IN_SESSION](this: object, session, signal) {
      const { [IN_SESSION]: _, ...completed } = this as InSession;
      return run(completed, session, signal);
    },
  };
  return { ...whole, ...inSession } as unknown as Request;
}

/** An event of a feed. */
export interface CapnwebEvent {
  /** The number of the event in its task. `subscribe({ after })` continues after it. */
  readonly seq: number | undefined;
  readonly event: StreamResponse;
}

const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });

/** The events of a task, for `for await`. Leaving the loop or disposing the feed ends it. The task continues. */
export class CapnwebFeed implements AsyncIterableIterator<CapnwebEvent, undefined>, Disposable {
  readonly #stream: Promise<TaskStream>;
  #isOver = false;

  constructor(stream: Promise<TaskStream>) {
    this.#stream = stream;
    stream.catch(() => {});
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<CapnwebEvent, undefined>> {
    const stream = await this.#stream;
    if (this.#isOver) return END;
    const next = await stream.next();
    if (next.done === true) return END;
    const { lastEventId } = stream;
    return {
      value: { seq: lastEventId === undefined ? undefined : Number(lastEventId), event: next.value },
      done: false,
    };
  }

  async return(): Promise<IteratorResult<CapnwebEvent, undefined>> {
    this.#isOver = true;
    await (await this.#stream).return();
    return END;
  }

  [Symbol.dispose](): void {
    this.return().catch(() => {});
  }
}
