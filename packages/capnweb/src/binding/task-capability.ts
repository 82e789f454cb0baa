import { RpcTarget } from 'capnweb';
import { BY_VERB } from 'parley-a2a/kit';
import type { FeedSource } from './feed-source.js';
import type { Grant } from './grant.js';
import type { ServerSession } from './server-session.js';
import type { Feed } from './session-types.js';
import { invalid, members } from './session-values.js';
import { type PeerFunction, Watch } from './watch.js';

/** The task of a capability, and the rights to it. */
class TaskAccess {
  readonly session: ServerSession;
  readonly grant: Grant;
  readonly id: string;

  constructor(session: ServerSession, grant: Grant, id: string) {
    this.session = session;
    this.grant = grant;
    this.id = id;
  }

  call(method: 'get' | 'cancel', request: object = {}): Promise<unknown> {
    return this.session.call({ grant: this.grant, operation: BY_VERB[method], value: { ...request, id: this.id } });
  }

  async get(options: unknown): Promise<unknown> {
    return this.call('get', await this.session.run(() => readMembers(options, ['historyLength'])));
  }

  async source(options: unknown): Promise<FeedSource> {
    const after = await this.session.run(() => readAfter(options));
    const value = { id: this.id };
    return this.session.stream({ grant: this.grant, operation: BY_VERB.subscribe, value, after });
  }

  async subscribe(options: unknown): Promise<Feed<Subscription>> {
    return Subscription.feedOf(await this.source(options));
  }
}

/** One task of one principal. */
export class TaskCapability extends RpcTarget {
  readonly #access: TaskAccess;

  private constructor(access: TaskAccess) {
    super();
    this.#access = access;
    access.session.hold(access.grant);
  }

  /** Checks that the principal owns the task. */
  static async open(session: ServerSession, grant: Grant, id: unknown): Promise<TaskCapability> {
    const known = await session.run(() => {
      if (typeof id !== 'string') throw invalid('id', 'must be a string');
      return id;
    });
    const access = new TaskAccess(session, grant, known);
    await access.call('get', { historyLength: 0 });
    return new TaskCapability(access);
  }

  get(options?: unknown): Promise<unknown> {
    return this.#access.get(options);
  }

  cancel(): Promise<unknown> {
    return this.#access.call('cancel');
  }

  async send(message: unknown): Promise<unknown> {
    const { session, grant, id } = this.#access;
    const value = await session.run(() => {
      const { taskId = id, ...rest } = members(message, 'message');
      if (taskId !== id) throw invalid('message.taskId', 'must be that of the task');
      return { message: { ...rest, taskId } };
    });
    return session.call({ grant, operation: BY_VERB.send, value });
  }

  subscribe(options?: unknown): Promise<Feed<Subscription>> {
    return this.#access.subscribe(options);
  }

  /** Calls a function of the client with batches of events. */
  async watch(sink: unknown, options?: unknown): Promise<Subscription> {
    const { session } = this.#access;
    const kept = await session.run(() => {
      if (typeof sink !== 'function') throw invalid('sink', 'must be a function');
      // The library disposes arguments when the call returns.
      return (sink as PeerFunction).dup();
    });
    try {
      const source = await this.#access.source(options);
      return new Subscription(new Watch({ source, sink: kept, clock: session.options.clock }));
    } catch (error) {
      kept[Symbol.dispose]();
      throw error;
    }
  }

  /** The task without the right to change it, to pass on. */
  view(): TaskView {
    return new TaskView(this.#access);
  }

  [Symbol.dispose](): void {
    this.#access.session.release(this.#access.grant);
  }
}

/** A task that its holder can only read. */
export class TaskView extends RpcTarget {
  readonly #access: TaskAccess;

  constructor(access: TaskAccess) {
    super();
    this.#access = access;
    access.session.hold(access.grant);
  }

  get(options?: unknown): Promise<unknown> {
    return this.#access.get(options);
  }

  subscribe(options?: unknown): Promise<Feed<Subscription>> {
    return this.#access.subscribe(options);
  }

  [Symbol.dispose](): void {
    this.#access.session.release(this.#access.grant);
  }
}

/** A handle to end a feed. Disposing closes it. */
export class Subscription extends RpcTarget {
  readonly #source: Pick<FeedSource, 'stop'>;

  constructor(source: Pick<FeedSource, 'stop'>) {
    super();
    this.#source = source;
  }

  /** The events as a stream, with their subscription. */
  static feedOf(source: FeedSource): Feed<Subscription> {
    return { events: source.stream(), subscription: new Subscription(source) };
  }

  close(): void {
    this.#source.stop();
  }

  [Symbol.dispose](): void {
    this.#source.stop();
  }
}

/** The named members of an object with options. */
function readMembers(options: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (options === undefined || options === null) return {};
  const given = members(options, 'options');
  return Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
}

/** The sequence number after which a stream resumes. */
export function readAfter(options: unknown): number | undefined {
  const { after } = readMembers(options, ['after']);
  if (after === undefined) return undefined;
  if (!Number.isSafeInteger(after) || (after as number) < 0) throw invalid('after', 'must be a sequence number');
  return after as number;
}
