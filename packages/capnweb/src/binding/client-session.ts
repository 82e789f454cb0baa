import { RpcSession } from 'capnweb';
import { EqualTimers, type TurnBudget } from 'parley-a2a/binding-kit';
import { A2AError, ConnectionError, ignoreRejection } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { endedError, isAnswered, rejectedError, type SessionEnd } from './client-errors.js';
import { ClientFeed, disposeOf } from './client-feed.js';
import type { Hello, Remote, RemoteAgent, RemoteEntrance } from './client-remotes.js';
import type { ClientSocket } from './client-socket.js';
import { CLOSE_CODES, SocketTransport, type TransportLimits } from './socket-transport.js';

/** The times and sizes of a session of a client. */
export interface ClientSessionSettings {
  /** Time limit for connecting, in ms. */
  readonly connectMs: number;
  /** Time limit for an answer, in ms. */
  readonly answerMs: number;
  /** Time between pings. Two pings without an answer end the session. */
  readonly pingMs: number;
  /** Time without calls and feeds after which the session is closed. */
  readonly idleMs: number;
  /** Maximum size of a received frame, in bytes. */
  readonly frameBytes: number;
  /** Maximum number of members and elements of a frame. */
  readonly frameItems: number;
}

/** The options of `ClientSession`. */
export interface ClientSessionOptions {
  readonly hello: Hello;
  /** Opens the socket. */
  readonly connect: (signal: AbortSignal) => Promise<ClientSocket>;
  /** Its timers let the process end. */
  readonly clock: Clock;
  /** The time for frames in a turn of the event loop. */
  readonly turn: TurnBudget;
  readonly settings: ClientSessionSettings;
  /** Called once, when the session accepts no further calls. */
  readonly onRetire: () => void;
}

/** A call of the capability of the caller. */
export type RemoteCall = (agent: RemoteAgent) => Remote<unknown>;

/** Reads an answer, whose streams end with the session. */
export type ReadAnswer<T> = (answer: unknown) => T | Promise<T>;

/** Code of an error frame for a login that the agent refuses. */
const UNAUTHENTICATED = 'UNAUTHENTICATED';
const UNANSWERED_PINGS = 2;
/** Maximum bytes of streams that wait for a local reader, and of frames that wait for the agent to read them. */
const UNREAD_BYTES = 64 * 1024 * 1024;

interface Opened {
  readonly socket: ClientSocket;
  readonly transport: SocketTransport;
  readonly entrance: RemoteEntrance;
  readonly agent: RemoteAgent;
}

/**
 * An authenticated connection to an agent, for any number of calls and feeds. It connects when it is made. It retires
 * on request, or when the connection or the credential ends: it then accepts no further calls, and closes after the
 * last one. An idle session closes by itself, and does not keep the process alive.
 */
export class ClientSession {
  readonly #options: ClientSessionOptions;
  readonly #deadlines: EqualTimers;
  readonly #connecting = new AbortController();
  readonly #opening: Promise<Opened>;
  readonly #feeds = new Set<ClientFeed>();
  readonly #holders = new Set<() => void>();
  #opened: Opened | undefined;
  #end: SessionEnd | undefined;
  #isRetired = false;
  #active = 0;
  #idleSince = 0;
  #stopIdle: (() => void) | undefined;
  #unanswered = 0;

  constructor(options: ClientSessionOptions) {
    this.#options = options;
    this.#deadlines = new EqualTimers(options.clock, options.settings.answerMs);
    this.#opening = ignoreRejection(this.#open());
  }

  /** True if the session accepts no further calls. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** The capability of the caller; undefined until the session is open. */
  get agent(): RemoteAgent | undefined {
    return this.#opened?.agent;
  }

  /**
   * Makes a call, and waits until its answer is read. If the signal aborts, the call is disposed and the session stays
   * open.
   * @throws A2AError, ConnectionError, or the reason of the signal.
   */
  async call<T>(make: RemoteCall, signal: AbortSignal | undefined, read: ReadAnswer<T>): Promise<T> {
    this.#use();
    try {
      const value = read(await this.#ask(make, signal));
      return value instanceof Promise ? await unlessAborted(value, signal) : value;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw this.#failure(error);
    } finally {
      this.#release();
    }
  }

  /** Makes a call whose answer is a feed. Throws as `call` does. */
  async feed(make: RemoteCall, signal: AbortSignal | undefined): Promise<ClientFeed> {
    this.#use();
    try {
      const answer = await this.#ask(make, signal);
      if (signal?.aborted) {
        disposeOf(answer);
        throw signal.reason;
      }
      const feed = ClientFeed.of(answer, {
        signal,
        failure: (error) => this.#failure(error),
        onClose: () => {
          this.#feeds.delete(feed);
          this.#release();
        },
      });
      this.#feeds.add(feed);
      return feed;
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Keeps the session open until the returned function is called. `ended` is called if the session ends before. */
  hold(ended: () => void): () => void {
    this.#use();
    this.#holders.add(ended);
    return () => {
      if (this.#holders.delete(ended)) this.#release();
    };
  }

  /** Accepts no further calls, and closes after the last one. */
  retire(): void {
    if (!this.#isRetired) {
      this.#isRetired = true;
      this.#options.onRetire();
    }
    if (this.#active === 0) this.close();
  }

  /** Closes the connection. Open calls and feeds fail. */
  close(): void {
    this.#connecting.abort(new ConnectionError('The session was closed', { sent: false }));
    this.#opened?.transport.close(CLOSE_CODES.normal, '');
    this.#handleEnd({ code: CLOSE_CODES.normal, reason: 'the client closed it' });
  }

  async #open(): Promise<Opened> {
    const { connect, clock, turn, settings, hello } = this.#options;
    const stop = clock.after(settings.connectMs, () => {
      const slow = `No connection came about in ${settings.connectMs} ms`;
      this.#connecting.abort(new ConnectionError(slow, { sent: false }));
    });
    try {
      const socket = await connect(this.#connecting.signal);
      const transport = new SocketTransport({
        socket,
        limits: limitsOf(settings),
        clock,
        turn,
        onClose: ({ code, message: reason }) => this.#handleEnd({ code, reason }),
        tick: () => this.#tick(),
      });
      const entrance = new RpcSession(transport).getRemoteMain() as unknown as RemoteEntrance;
      const agent = entrance.authenticate(hello);
      agent.then(undefined, () => this.retire());
      this.#opened = { socket, transport, entrance, agent };
      if (this.#active === 0) this.#rest();
      return this.#opened;
    } catch (error) {
      this.retire();
      throw error;
    } finally {
      stop();
    }
  }

  #ready(signal: AbortSignal | undefined): Promise<Opened> | Opened {
    if (this.#end !== undefined) throw new ConnectionError('The session has ended', { sent: false });
    return this.#opened ?? unlessAborted(this.#opening, signal);
  }

  async #ask(make: RemoteCall, signal: AbortSignal | undefined): Promise<unknown> {
    signal?.throwIfAborted();
    const ready = this.#ready(signal);
    const { agent } = ready instanceof Promise ? await ready : ready;
    try {
      return await this.#settle(
        makeRemote(() => make(agent)),
        signal,
      );
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw this.#failure(error);
    }
  }

  /** Waits for an answer until the signal aborts or the time limit passes. The call is then disposed. */
  #settle(remote: Remote<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let isGivenUp = false;
      const giveUp = (reason: unknown): void => {
        isGivenUp = true;
        stopWatching();
        reject(reason);
        remote[Symbol.dispose]();
      };
      const timer = this.#deadlines.start(() => {
        giveUp(new ConnectionError(`No answer came in ${this.#options.settings.answerMs} ms`, { sent: true }));
      });
      const onAbort = (): void => giveUp(signal?.reason);
      const stopWatching = (): void => {
        this.#deadlines.stop(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      remote.then(
        (answer) => {
          if (isGivenUp) disposeOf(answer);
          stopWatching();
          resolve(answer);
        },
        (error: unknown) => {
          stopWatching();
          reject(error);
        },
      );
    });
  }

  /** The error for the caller. An error of the agent has a reason. Any other error of a closed session is its end. */
  #failure(error: unknown): unknown {
    if (error instanceof A2AError) return error;
    if (isAnswered(error)) {
      const answered = rejectedError(error);
      // The next call opens a session with the latest credential.
      if (answered.code === UNAUTHENTICATED) this.retire();
      return answered;
    }
    return this.#end === undefined ? rejectedError(error) : endedError(this.#end);
  }

  #use(): void {
    this.#active += 1;
    if (this.#active === 1) this.#opened?.socket.ref?.();
  }

  #release(): void {
    this.#active -= 1;
    if (this.#active > 0) return;
    if (this.#isRetired) this.close();
    else if (this.#opened !== undefined) this.#rest();
  }

  /** Starts the idle time. */
  #rest(): void {
    const { clock, settings } = this.#options;
    this.#opened?.socket.unref?.();
    this.#idleSince = clock.monotonic();
    this.#stopIdle ??= clock.after(settings.idleMs, () => this.#closeIfIdle());
  }

  /** One timer serves many calls: it checks the time since the last one. */
  #closeIfIdle(): void {
    const { clock, settings } = this.#options;
    const left = this.#active > 0 ? settings.idleMs : this.#idleSince + settings.idleMs - clock.monotonic();
    this.#stopIdle = left > 0 ? clock.after(left, () => this.#closeIfIdle()) : undefined;
    if (left <= 0) this.retire();
  }

  /** Sends keep-alives to feeds. Pings the agent by a call if the host has no pings of its own. */
  #tick(): void {
    const opened = this.#opened;
    if (opened === undefined || this.#active === 0) return;
    for (const feed of this.#feeds) feed.keepAlive();
    if (opened.socket.ping !== undefined) return;
    if (this.#unanswered >= UNANSWERED_PINGS) {
      opened.transport.close(CLOSE_CODES.abnormal, 'the agent does not answer');
      return;
    }
    this.#unanswered += 1;
    opened.entrance.ping().then(
      () => {
        this.#unanswered = 0;
      },
      () => {},
    );
  }

  #handleEnd(end: SessionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#stopIdle?.();
    if (!this.#isRetired) {
      this.#isRetired = true;
      this.#options.onRetire();
    }
    for (const ended of [...this.#holders]) ended();
  }
}

/** An agent may send more and larger values than a caller, but they are bounded. */
function limitsOf({ frameBytes, frameItems, pingMs }: ClientSessionSettings): TransportLimits {
  return {
    pathLength: 4,
    calls: 4096,
    capabilities: 1024,
    callbacks: 4096,
    runningLength: UNREAD_BYTES,
    frameLength: frameBytes,
    items: frameItems,
    unconsumedBytes: UNREAD_BYTES,
    outboundBytes: UNREAD_BYTES,
    pingMs,
  };
}

/** The library throws synchronously for values that it cannot send. */
function makeRemote(make: () => Remote<unknown>): Remote<unknown> {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new A2AError('INVALID_PARAMS', `The request cannot be sent: ${reason}`, {}, { cause });
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
