import { timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { type TaskKey, taskKeyText } from '../task-key.js';
import type { Acceptance, AcceptOutcome, Append, AppendOutcome, TaskStorage } from '../task-storage.js';
import type { WakeupListener } from '../wakeups.js';
import { ENTRY_CHARACTERS, FrameLink } from './frame-link.js';
import { LocalRates } from './local-rates.js';
import { ProcessHoldings } from './process-holdings.js';
import { REMOTE_CALLS, type RemoteCall, ruleOf } from './remote-calls.js';
import { failureFields } from './remote-errors.js';

/** Bytes of the first frame, which has the token. */
const TOKEN_BYTES = 4_096;
/** A process that has not shown its token by then is cut. */
const TOKEN_MS = 5_000;
/** Calls of one process under way, and characters of answers that it has not read. Beyond that, it is not read. */
const CALLS = 4_096;
const UNREAD_CHARACTERS = 67_108_864;
/** Tasks at most whose changes one process wants to know of. */
const WATCHED = 10_000;

/** Place and key of a storage process: a socket in a folder that only its user can read, and a secret. */
export interface StorageAddress {
  readonly path: string;
  readonly token: string;
}

/** Options of a storage server. */
interface StorageServerOptions extends StorageAddress {
  /** A storage of one process. */
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A process that is asked for its figures has so long for them. */
const FIGURES_MS = 500;
/** The entry that asks a process for its figures. */
export const FIGURES_ASKED = 'figuresAsked';

type Run = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Makes calls to a storage of one process for other processes of the machine. Calls of all of them share commits. When
 * a process ends, the others can claim its turns at once.
 */
export class StorageServer {
  readonly #options: StorageServerOptions;
  readonly #server: Server;
  readonly #calls: ReadonlyMap<unknown, Run>;
  readonly #clients = new Set<StorageClient>();
  #unsubscribe: (() => void) | undefined;
  #onEmpty: (() => void) | undefined;

  private constructor(options: StorageServerOptions) {
    const { storage, clock } = options;
    this.#options = options;
    const siblings = new AskedSiblings(clock, () => this.#clients);
    this.#calls = callsOf(storage, { rates: new LocalRates(clock), siblings });
    this.#server = createServer((socket) => this.#connected(socket));
  }

  /** Resolves when processes can connect. */
  static async listen(options: StorageServerOptions): Promise<StorageServer> {
    const server = new StorageServer(options);
    // An earlier storage process that was killed has left its socket.
    if (process.platform !== 'win32') rmSync(options.path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(options.path, resolve);
    });
    server.#unsubscribe = options.storage.wakeups.subscribe(server.#wakeups);
    return server;
  }

  /** Resolves once no process is connected any more. */
  async left(): Promise<void> {
    if (this.#clients.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Accepts no more processes and cuts those that are connected. Resolves when the storage is closed. */
  async close(): Promise<void> {
    this.#server.close();
    this.#unsubscribe?.();
    for (const client of this.#clients) client.link.destroy();
    await this.#options.storage.close();
  }

  readonly #wakeups: WakeupListener = {
    taskChanged: (key) => this.#tell(['taskChanged', key]),
    workReady: (agent) => this.#tell(['workReady', agent]),
    cancelAsked: (key) => this.#tell(['cancelAsked', key]),
    deliveryReady: (agent) => this.#tell(['deliveryReady', agent]),
  };

  #tell(wakeup: readonly [name: keyof WakeupListener, about: TaskKey | string]): void {
    const entry = JSON.stringify(wakeup);
    for (const client of this.#clients) client.link.send(entry);
  }

  /** Tells the processes that look at a task of what another one has appended. */
  #appended(key: TaskKey, writer: StorageClient): void {
    if (this.#clients.size < 2) return;
    const text = taskKeyText(key);
    let entry: string | undefined;
    for (const client of this.#clients) {
      if (client === writer || !client.watches(text)) continue;
      entry ??= JSON.stringify(['taskChanged', key]);
      client.link.send(entry);
    }
  }

  #connected(socket: Socket): void {
    const { clock, token, storage } = this.#options;
    let client: StorageClient | undefined;
    const link = new FrameLink({
      socket,
      clock,
      maxBytes: TOKEN_BYTES,
      onEntries: (entries) => {
        if (client !== undefined) return client.take(entries);
        if (!isToken(entries[0], token)) return socket.destroy();
        stop();
        link.maxBytes = ENTRY_CHARACTERS * 4;
        const { durability, warnings } = storage;
        link.send(JSON.stringify([{ durability, warnings }]));
        client = new StorageClient({
          link,
          storage,
          calls: this.#calls,
          onAppended: (key, writer) => this.#appended(key, writer),
        });
        this.#clients.add(client);
        client.take(entries.slice(1));
      },
      onSent: () => client?.checkLoad(),
      onClose: () => {
        stop();
        if (client !== undefined) this.#leave(client);
      },
    });
    const stop = clock.after(TOKEN_MS, () => socket.destroy());
  }

  #leave(client: StorageClient): void {
    const { clock, logger } = this.#options;
    this.#clients.delete(client);
    clock
      .hold(client.leave())
      .catch((error: unknown) => logger.warn('leases of a process last until their ends', { error }))
      .finally(() => {
        if (this.#clients.size === 0) this.#onEmpty?.();
      });
  }
}

interface StorageClientOptions {
  readonly link: FrameLink;
  readonly storage: TaskStorage;
  readonly calls: ReadonlyMap<unknown, Run>;
  /** Called for each append of a turn. */
  readonly onAppended: (key: TaskKey, writer: StorageClient) => void;
}

/** One connected process. */
class StorageClient {
  readonly link: FrameLink;
  readonly #options: StorageClientOptions;
  readonly #holdings: ProcessHoldings;
  readonly #watched = new Set<string>();
  #running = 0;
  #isPaused = false;
  #hasLeft = false;

  constructor(options: StorageClientOptions) {
    this.#options = options;
    this.link = options.link;
    this.#holdings = new ProcessHoldings(options.storage);
  }

  watches(key: string): boolean {
    return this.#watched.has(key);
  }

  /** Makes the calls of a frame, in their order. */
  take(entries: readonly unknown[]): void {
    for (const entry of entries) {
      const [id, call, args] = entry as readonly [number, RemoteCall, readonly unknown[]];
      void this.#answer(id, call, args);
    }
    this.checkLoad();
  }

  /** The process has ended: others can claim what it holds. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    await this.#holdings.giveUp();
  }

  async #answer(id: number, call: RemoteCall, sent: readonly unknown[]): Promise<void> {
    const run = this.#options.calls.get(call);
    if (run === undefined) return this.link.destroy();
    const { fromArgs, toResult } = ruleOf(call);
    this.#running += 1;
    try {
      const present = sent.map((arg) => arg ?? undefined);
      const args = fromArgs?.(present) ?? present;
      this.#watch(call, args);
      const result = await run(...args);
      this.#done(call, args, result);
      this.link.send(JSON.stringify([id, 0, toResult === undefined ? result : toResult(result, args)]));
    } catch (error) {
      this.link.send(JSON.stringify([id, 1, failureFields(error)]));
    }
    this.#running -= 1;
    this.checkLoad();
  }

  #done(call: RemoteCall, args: readonly unknown[], result: unknown): void {
    this.#holdings.note(call, args, result);
    if (this.#hasLeft) void this.#holdings.giveUp().catch(() => {});
    if (call === 'append') {
      const { key, authority } = args[0] as Append;
      const isOfTurn = typeof authority === 'number' && (result as AppendOutcome).kind === 'appended';
      if (isOfTurn) this.#options.onAppended(key, this);
    } else if (call === 'accept') {
      const outcome = result as AcceptOutcome;
      const { scope } = args[0] as Acceptance;
      if (outcome.kind === 'accepted' && outcome.claim === undefined) this.#see({ scope, id: outcome.taskId });
    }
  }

  /** A process that reads a task may follow it. It reads again from time to time. */
  #watch(call: RemoteCall, args: readonly unknown[]): void {
    if (call === 'records') this.#see(args[0] as TaskKey);
    else if (call === 'heads') for (const key of args[0] as readonly TaskKey[]) this.#see(key);
    else if (call === 'task' || call === 'requestCancel')
      this.#see({ scope: args[0] as TaskKey['scope'], id: args[1] as string });
  }

  #see(key: TaskKey): void {
    const text = taskKeyText(key);
    this.#watched.delete(text);
    this.#watched.add(text);
    if (this.#watched.size <= WATCHED) return;
    for (const oldest of this.#watched) {
      this.#watched.delete(oldest);
      return;
    }
  }

  /** Reads no more calls of the process while too many are under way, or too many answers wait for it. */
  checkLoad(): void {
    const isLoaded = this.#running > CALLS || this.link.waiting > UNREAD_CHARACTERS;
    if (isLoaded === this.#isPaused) return;
    this.#isPaused = isLoaded;
    if (isLoaded) this.link.pause();
    else this.link.resume();
  }
}

/** Asks all processes for their figures, for one of them. */
class AskedSiblings {
  readonly #clock: Clock;
  readonly #clients: () => ReadonlySet<StorageClient>;
  readonly #asked = new Map<number, (figures: unknown) => void>();
  #count = 0;

  constructor(clock: Clock, clients: () => ReadonlySet<StorageClient>) {
    this.#clock = clock;
    this.#clients = clients;
  }

  /** Resolves to the figures of all processes that answer in time. */
  async collect(): Promise<readonly unknown[]> {
    this.#count += 1;
    const asked = this.#count;
    const clients = [...this.#clients()];
    const given: unknown[] = [];
    await new Promise<void>((resolve) => {
      const stop = this.#clock.after(FIGURES_MS, resolve);
      this.#asked.set(asked, (figures) => {
        if (figures !== undefined) given.push(figures);
        if (given.length < clients.length) return;
        stop();
        resolve();
      });
      for (const { link } of clients) link.send(JSON.stringify([FIGURES_ASKED, asked]));
    });
    this.#asked.delete(asked);
    return given;
  }

  async give(asked: number, figures: unknown): Promise<void> {
    this.#asked.get(asked)?.(figures);
  }
}

function callsOf(storage: TaskStorage, own: Readonly<Record<string, object>>): ReadonlyMap<unknown, Run> {
  const { keys, push, owners } = storage;
  const ports: Readonly<Record<string, object>> = { '': storage, keys, push, owners, ...own };
  return new Map(
    REMOTE_CALLS.filter((call) => call !== 'close').map((call) => {
      const [name = '', part = ''] = call.split('.').reverse();
      const port = ports[part] ?? storage;
      return [call, (Reflect.get(port, name) as Run).bind(port)];
    }),
  );
}

function isToken(given: unknown, token: string): boolean {
  const [one, other] = [Buffer.from(String(given)), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}
