import { connect, type Socket } from 'node:net';
import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { FileOwner } from '../file-owner.js';
import type { IdempotencyKeys } from '../idempotency-keys.js';
import type { OwnerStorage } from '../owner-storage.js';
import type { PushStorage } from '../push-storage.js';
import type { RateCounters } from '../rate-counters.js';
import { StorageLifetime } from '../storage-lifetime.js';
import { type TaskKey, taskKeyText } from '../task-key.js';
import type { TaskStorage } from '../task-storage.js';
import { LocalWakeups, type WakeupListener } from '../wakeups.js';
import { FIGURES_ASKED } from './asked-siblings.js';
import { ENTRY_CHARACTERS, FrameLink } from './frame-link.js';
import { REMOTE_CALLS, type RemoteCall, ruleOf } from './remote-calls.js';
import { type FailureFields, failureOf } from './remote-errors.js';
import { type ClientEntry, type StorageAddress, WATCHED } from './storage-server.js';

/** Pause between two attempts to connect. */
const RETRY_MS = 50;
/** Calls wait this long for a storage process that restarts. Later calls fail at once until it is back. */
const PATIENCE_MS = 10_000;
/** The id of an entry whose answer is ignored. */
const NO_ID = -1;
/** Maximum characters of calls that wait for an answer. Further calls fail. */
const WAITING_CHARACTERS = 268_435_456;

/** Options of a storage in another process. */
interface RemoteStorageOptions extends StorageAddress {
  readonly clock: Clock;
  /** Opens a file that the storage process writes, for reads in this process. Called with its remote storage. */
  readonly openFile: (owner: FileOwner, remote: RemoteStorage) => TaskStorage;
}

interface Waiting {
  readonly call: RemoteCall;
  readonly args: readonly unknown[];
  readonly bytes: Uint8Array | undefined;
  readonly characters: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Facts {
  readonly durability: TaskStorage['durability'];
  readonly warnings?: readonly string[];
  /** The path of the file of the storage, which other processes read directly. */
  readonly file?: string;
}

/** A storage of one process that several processes use through calls to that process. See `StorageServer`. */
export type RemoteStorage = TaskStorage & Required<Pick<TaskStorage, 'rateCounters' | 'siblings'>>;

/**
 * Connects to a storage process.
 * @throws StorageError if it does not answer in time.
 */
export async function connectRemoteStorage(options: RemoteStorageOptions): Promise<TaskStorage> {
  const calls = new RemoteCalls(options);
  const { durability, warnings, file } = await calls.start();
  const port = (part: string): unknown =>
    Object.fromEntries(
      REMOTE_CALLS.filter((call) => call.startsWith(part) && call.slice(part.length).match(/^\w+$/)).map((call) => [
        call.slice(part.length),
        (...args: readonly unknown[]) => calls.run(call, args),
      ]),
    );
  const remote: RemoteStorage = {
    ...(port('') as TaskStorage),
    shared: true,
    durability,
    ...(warnings && { warnings }),
    wakeups: calls.wakeups,
    rateCounters: port('rates.') as RateCounters,
    siblings: {
      offer: (figures) => {
        calls.figures = figures;
        return () => {
          calls.figures = undefined;
        };
      },
      collect: () => calls.run('siblings.collect', []) as Promise<readonly unknown[]>,
    },
    keys: port('keys.') as IdempotencyKeys,
    push: port('push.') as PushStorage,
    owners: port('owners.') as OwnerStorage,
    close: () => calls.close(),
  };
  return file === undefined ? remote : options.openFile(new RemoteFile(file, calls), remote);
}

/** The calls of one process to the storage process. They survive its restart if their rules allow it. */
class RemoteCalls {
  readonly wakeups = new LocalWakeups();
  /** The nodes of this process. Each storage process gets them before any call. */
  readonly nodes = new Set<string>();
  /** Called with each reconnection, before any call is repeated. */
  onReconnect: (() => void) | undefined;
  /** Returns the figures of this process for another one. */
  figures: (() => Promise<unknown>) | undefined;
  readonly #options: RemoteStorageOptions;
  readonly #lifetime = new StorageLifetime();
  readonly #waiting = new TransientMap<number, Waiting>();
  #characters = 0;
  #nextId = 0;
  /** Absent while there is no connection. */
  #link: FrameLink | undefined;
  #stopPatience: (() => void) | undefined;
  #isAway = false;
  #started: { readonly resolve: (facts: Facts) => void; readonly reject: (error: Error) => void } | undefined;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: RemoteStorageOptions) {
    this.#options = options;
  }

  start(): Promise<Facts> {
    const { promise, resolve, reject } = Promise.withResolvers<Facts>();
    this.#started = { resolve, reject };
    this.#connect();
    this.#wait();
    return this.#options.clock.hold(promise);
  }

  async run(call: RemoteCall, args: readonly unknown[], bytes?: Uint8Array): Promise<unknown> {
    this.#lifetime.check();
    if (this.#isAway) throw awayError();
    const id = this.#nextId;
    const text = entryOf(id, call, args);
    const characters = text.length + (bytes?.length ?? 0);
    if (characters > ENTRY_CHARACTERS || this.#characters + characters > WAITING_CHARACTERS)
      throw new StorageError('The storage process cannot take more now');
    this.#nextId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { call, args, bytes, characters, resolve, reject });
    this.#characters += characters;
    this.#link?.send(text, bytes);
    return promise;
  }

  /** Sends an entry without an answer. Dropped while there is no connection. */
  tell(entry: ClientEntry): void {
    this.#link?.send(JSON.stringify(entry));
  }

  close(): Promise<void> {
    this.#lifetime.end();
    this.#closing ??= this.#options.clock.hold(this.#close());
    return this.#closing;
  }

  /** True after a close, once no call waits. */
  get #isOver(): boolean {
    return this.#closing !== undefined && this.#waiting.size === 0;
  }

  async #close(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.#stopPatience?.();
    this.#link?.end();
  }

  #connect(): void {
    const { path, token, clock } = this.#options;
    const socket: Socket = connect(path);
    // The socket need not keep the process alive: its own server does, and so does a `close` in progress.
    socket.unref();
    let isReady = false;
    const link = new FrameLink({
      socket,
      clock,
      maxBytes: ENTRY_CHARACTERS * 4,
      onEntries: (entries, bytes) => {
        if (isReady) return this.#take(entries, bytes);
        isReady = true;
        const [[facts]] = entries as readonly [readonly [Facts]];
        this.#connected(link, facts);
        this.#take(entries.slice(1));
      },
      onClose: () => {
        if (this.#link === link) this.#lost();
        if (!this.#isOver) clock.after(RETRY_MS, () => this.#isOver || this.#connect());
      },
    });
    socket.once('connect', () => link.send(JSON.stringify(token)));
  }

  #connected(link: FrameLink, facts: Facts): void {
    this.#stopPatience?.();
    this.#isAway = false;
    this.#link = link;
    this.tell(['nodes', [...this.nodes]]);
    if (this.#started === undefined) this.onReconnect?.();
    this.#started?.resolve(facts);
    this.#started = undefined;
    for (const id of this.#waiting.keys()) {
      const { call, args, bytes } = this.#waiting.get(id) as Waiting;
      const { repeat } = ruleOf(call);
      link.send(entryOf(id, call, typeof repeat === 'function' ? repeat(args) : args), bytes);
    }
  }

  /** Calls that must not be repeated fail. The others wait. */
  #lost(): void {
    this.#link = undefined;
    for (const id of [...this.#waiting.keys()]) {
      const isRepeated = ruleOf((this.#waiting.get(id) as Waiting).call).repeat !== 'never';
      if (!isRepeated) this.#settle(id)?.reject(new StorageError('The storage process has ended', { told: true }));
    }
    this.#wait();
  }

  #wait(): void {
    this.#stopPatience = this.#options.clock.after(PATIENCE_MS, () => {
      this.#isAway = true;
      this.#started?.reject(awayError());
      this.#started = undefined;
      for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(awayError());
    });
  }

  #take(entries: readonly unknown[], bytes?: Uint8Array): void {
    for (const entry of entries as readonly (readonly [number | string, unknown, unknown])[]) {
      const [id, second, value] = entry;
      if (id === FIGURES_ASKED) {
        void this.#giveFigures(second as number);
        continue;
      }
      if (typeof id === 'string') {
        this.wakeups[id as keyof WakeupListener](second as never);
        continue;
      }
      const waiting = this.#settle(id);
      if (waiting === undefined) continue;
      const { call, args, resolve, reject } = waiting;
      if (second === 1) reject(failureOf(value as FailureFields));
      else resolve(bytes ?? resultOf(call, args, value));
    }
  }

  async #giveFigures(asked: number): Promise<void> {
    const figures = await this.figures?.().catch(() => undefined);
    this.#link?.send(JSON.stringify([NO_ID, 'siblings.give', [asked, figures]]));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    this.#characters -= waiting.characters;
    if (this.#waiting.size === 0) this.#onIdle?.();
    return waiting;
  }
}

/** The process that writes the file of a storage. */
class RemoteFile implements FileOwner {
  readonly path: string;
  readonly #calls: RemoteCalls;
  /** The tasks that the owner watches for this process. */
  readonly #watched = new Set<string>();

  constructor(path: string, calls: RemoteCalls) {
    this.path = path;
    this.#calls = calls;
  }

  write(requests: Uint8Array): Promise<Uint8Array> {
    return this.#calls.run('file.write', [false], requests) as Promise<Uint8Array>;
  }

  hasNode(node: string): void {
    if (this.#calls.nodes.has(node)) return;
    this.#calls.nodes.add(node);
    this.#calls.tell(['nodes', [node]]);
  }

  watch(key: TaskKey): void {
    const text = taskKeyText(key);
    if (this.#watched.has(text)) return;
    this.#watched.add(text);
    this.#calls.tell(['watch', key]);
    // The owner drops the oldest as well.
    if (this.#watched.size <= WATCHED) return;
    for (const oldest of this.#watched) {
      this.#watched.delete(oldest);
      return;
    }
  }

  appended(key: TaskKey): void {
    this.#calls.tell(['appended', taskKeyText(key)]);
  }

  wake(name: keyof WakeupListener, about: TaskKey | string): void {
    this.#calls.tell(['wake', name, about]);
  }

  onWakeup(listener: WakeupListener): void {
    this.#calls.wakeups.subscribe(listener);
  }

  onReconnect(reopen: () => void): void {
    this.#calls.onReconnect = () => {
      this.#watched.clear();
      reopen();
    };
  }
}

function entryOf(id: number, call: RemoteCall, args: readonly unknown[]): string {
  return JSON.stringify([id, call, ruleOf(call).toArgs?.(args) ?? args]);
}

/** Parses the result of a call. An invalid result fails only its own call. */
function resultOf(call: RemoteCall, args: readonly unknown[], value: unknown): unknown {
  const result = value ?? undefined;
  try {
    return ruleOf(call).fromResult?.(result, args) ?? result;
  } catch (error) {
    return Promise.reject(error);
  }
}

function awayError(): StorageError {
  const text = 'The storage process does not answer';
  // The storage process has already logged the error.
  return new StorageError(text, { told: true, reason: text });
}
