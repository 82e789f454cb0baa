import { timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { FileBatch, ServedFile } from '../file-owner.js';
import { type TaskKey, taskKeyText } from '../task-key.js';
import type { Acceptance, AcceptOutcome, Append, AppendOutcome, TaskStorage } from '../task-storage.js';
import type { WakeupListener } from '../wakeups.js';
import { AskedSiblings } from './asked-siblings.js';
import { ENTRY_CHARACTERS, FrameLink } from './frame-link.js';
import { LocalRates } from './local-rates.js';
import { ProcessHoldings } from './process-holdings.js';
import { REMOTE_CALLS, type RemoteCall, ruleOf } from './remote-calls.js';
import { failureFields } from './remote-errors.js';

/** Maximum bytes of the first frame, which contains the token. */
const TOKEN_BYTES = 4_096;
/** A process that has not sent its token within this time is disconnected. */
const TOKEN_MS = 5_000;
/** Maximum calls of one process in progress. Above it, or above the limit of unread answers, its socket is not read. */
const CALLS = 4_096;
const UNREAD_CHARACTERS = 67_108_864;
/** Above this number of unread characters, a process gets no wake-ups. It polls from time to time. */
const UNREAD_WAKEUPS = 1_048_576;
/** Maximum number of tasks that one process watches. */
export const WATCHED = 10_000;

/** The address of a storage process: a socket in a folder that only its user can read, and a secret. */
export interface StorageAddress {
  readonly path: string;
  readonly token: string;
}

/** Options of a storage server. */
interface StorageServerOptions extends StorageAddress {
  /** A storage of one process. */
  readonly storage: TaskStorage;
  /** The file of the storage, if other processes can read it. */
  readonly file?: ServedFile | undefined;
  /**
   * Number of processes that reconnect after the last storage process has ended. Once all are connected, leases of
   * other nodes end.
   * Default: leases last until their ends.
   */
  readonly processes?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Entries without an answer. The first one of a connection lists the nodes of the process. The others come from a
 * process that reads the file itself. They are new nodes, a task to watch, a task that its turn has changed, and a
 * wake-up for other processes.
 */
export type ClientEntry =
  | readonly ['nodes', readonly string[]]
  | readonly ['watch', TaskKey]
  | readonly ['appended', string]
  | readonly ['wake', name: keyof WakeupListener, about: TaskKey | string];

type Run = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Executes calls of other processes of the machine on a storage of one process. Calls of all of them share commits.
 * When a process ends, the others can claim its turns at once.
 */
export class StorageServer {
  readonly #options: StorageServerOptions;
  readonly #server: Server;
  readonly #calls: ReadonlyMap<unknown, Run>;
  readonly #writes: FileWrites | undefined;
  readonly #clients = new Set<StorageClient>();
  #unsubscribe: (() => void) | undefined;
  #onEmpty: (() => void) | undefined;
  /** Number of processes that must connect before leases of other nodes end. */
  #expected: number | undefined;

  private constructor(options: StorageServerOptions) {
    const { storage, clock } = options;
    this.#options = options;
    const siblings = new AskedSiblings(clock, () => this.#clients);
    this.#calls = callsOf(storage, { rates: new LocalRates(clock), siblings });
    this.#writes = options.file && new FileWrites(options.file);
    this.#expected = options.processes;
    this.#server = createServer((socket) => this.#connected(socket));
  }

  /** Resolves when processes can connect. */
  static async listen(options: StorageServerOptions): Promise<StorageServer> {
    const server = new StorageServer(options);
    // A storage process that was killed has not removed its socket.
    if (process.platform !== 'win32') rmSync(options.path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(options.path, resolve);
    });
    server.#unsubscribe = options.storage.wakeups.subscribe(server.#wakeups);
    return server;
  }

  /** Resolves when no process is connected. */
  async left(): Promise<void> {
    if (this.#clients.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Refuses new processes and disconnects the others. Resolves when the storage is closed. */
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

  #tell(wakeup: readonly [name: keyof WakeupListener, about: TaskKey | string], waking?: StorageClient): void {
    const entry = JSON.stringify(wakeup);
    for (const client of this.#clients) if (client !== waking) client.wake(entry);
  }

  /** Sends the change of a task to the other processes that watch it. */
  #appended(text: string, writer: StorageClient): void {
    for (const client of this.#clients) {
      if (client !== writer) client.tellChange(text);
    }
  }

  #connected(socket: Socket): void {
    const { clock, token, storage, file } = this.#options;
    let client: StorageClient | undefined;
    const link = new FrameLink({
      socket,
      clock,
      maxBytes: TOKEN_BYTES,
      onEntries: (entries, bytes) => {
        if (client !== undefined) return client.take(entries, bytes);
        if (!isToken(entries[0], token)) return socket.destroy();
        stop();
        link.maxBytes = ENTRY_CHARACTERS * 4;
        const { durability, warnings } = storage;
        link.send(JSON.stringify([{ durability, warnings, file: file?.path }]));
        client = new StorageClient({
          link,
          storage,
          calls: this.#calls,
          writes: this.#writes,
          isShared: () => this.#clients.size > 1,
          onNodes: () => this.#arrived(),
          onAppended: (task, writer) => this.#appended(task, writer),
          onWake: (name, about, waking) => this.#tell([name, about], waking),
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

  /** Once all processes have listed their nodes after a restart, the leases of processes that have ended can end. */
  #arrived(): void {
    if (this.#expected === undefined) return;
    const arrived = [...this.#clients].filter(({ nodes }) => nodes !== undefined);
    if (arrived.length < this.#expected) return;
    this.#expected = undefined;
    this.#keepLeases(this.#options.file)?.catch(this.#onLasting);
  }

  #keepLeases(file: ServedFile | undefined): Promise<void> | undefined {
    return file?.keepLeases([...this.#clients].flatMap(({ nodes }) => [...(nodes ?? [])]));
  }

  readonly #onLasting = (error: unknown): void => {
    this.#options.logger.warn('leases of a process last until their ends', { error });
  };

  #leave(client: StorageClient): void {
    const { clock, file } = this.#options;
    this.#clients.delete(client);
    const isServing = this.#server.listening && this.#expected === undefined;
    clock
      .hold(Promise.all([client.leave(), isServing && this.#keepLeases(file)]))
      .catch(this.#onLasting)
      .finally(() => {
        if (this.#clients.size === 0) this.#onEmpty?.();
      });
  }
}

interface StorageClientOptions {
  readonly link: FrameLink;
  readonly storage: TaskStorage;
  readonly calls: ReadonlyMap<unknown, Run>;
  readonly writes: FileWrites | undefined;
  /** True if other processes are connected. */
  readonly isShared: () => boolean;
  /** Called when the process has listed its nodes. */
  readonly onNodes: () => void;
  /** Called for each append of a turn, with the text of the key of its task. */
  readonly onAppended: (task: string, writer: StorageClient) => void;
  /** Called for each wake-up that a process sends to the others. */
  readonly onWake: (name: keyof WakeupListener, about: TaskKey | string, waking: StorageClient) => void;
}

/** A connected process. */
class StorageClient {
  readonly link: FrameLink;
  readonly #options: StorageClientOptions;
  readonly #holdings: ProcessHoldings;
  /** Absent until the process has listed them. */
  nodes: Set<string> | undefined;
  readonly #watched = new Map<string, TaskKey>();
  #running = 0;
  #isPaused = false;
  #hasLeft = false;

  constructor(options: StorageClientOptions) {
    this.#options = options;
    this.link = options.link;
    this.#holdings = new ProcessHoldings(options.storage);
  }

  /** Sends a change of a task, if the process watches it. */
  tellChange(task: string): void {
    const key = this.#watched.get(task);
    if (key !== undefined) this.wake(JSON.stringify(['taskChanged', key]));
  }

  /** Sends a wake-up. */
  wake(entry: string): void {
    if (this.link.waiting <= UNREAD_WAKEUPS) this.link.send(entry);
  }

  /** Executes the calls of a frame in order. */
  take(entries: readonly unknown[], bytes?: Uint8Array): void {
    for (const entry of entries) {
      if (typeof (entry as readonly unknown[])[0] === 'string') this.#note(entry as ClientEntry);
      else {
        const [id, call, args] = entry as readonly [number, RemoteCall, readonly unknown[]];
        void (bytes === undefined ? this.#answer(id, call, args) : this.#write(id, bytes, args[0] === true));
      }
    }
    this.checkLoad();
  }

  #note([kind, about, more]: ClientEntry): void {
    switch (kind) {
      case 'nodes':
        this.nodes = new Set([...(this.nodes ?? []), ...about]);
        return this.#options.onNodes();
      case 'watch':
        // Another process may have changed the task since the process has read it.
        if (this.#see(about) && this.#options.isShared()) this.tellChange(taskKeyText(about));
        return;
      case 'appended':
        return this.#options.onAppended(about, this);
      case 'wake':
        return this.#options.onWake(about, more, this);
    }
  }

  async #write(id: number, bytes: Uint8Array, again: boolean): Promise<void> {
    const { writes } = this.#options;
    if (writes === undefined) return this.link.destroy();
    this.#running += 1;
    try {
      this.link.send(JSON.stringify([id, 0]), await writes.write(bytes, again));
    } catch (error) {
      this.link.send(JSON.stringify([id, 1, failureFields(error)]));
    }
    this.#running -= 1;
    this.checkLoad();
  }

  /** Releases all leases of the process after its end. */
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
      if (isOfTurn) this.#options.onAppended(taskKeyText(key), this);
    } else if (call === 'accept') {
      const outcome = result as AcceptOutcome;
      const { scope } = args[0] as Acceptance;
      if (outcome.kind === 'accepted' && outcome.claim === undefined) this.#see({ scope, id: outcome.taskId });
    }
  }

  /** Watches the tasks that a call reads: the process may follow them. It also polls from time to time. */
  #watch(call: RemoteCall, args: readonly unknown[]): void {
    if (call === 'records') this.#see(args[0] as TaskKey);
    else if (call === 'heads') for (const key of args[0] as readonly TaskKey[]) this.#see(key);
    else if (call === 'task' || call === 'requestCancel')
      this.#see({ scope: args[0] as TaskKey['scope'], id: args[1] as string });
  }

  /** Returns whether the process has not watched the task before. */
  #see(key: TaskKey): boolean {
    const text = taskKeyText(key);
    const isNew = !this.#watched.delete(text);
    this.#watched.set(text, key);
    if (this.#watched.size > WATCHED) {
      const [oldest = ''] = this.#watched.keys();
      this.#watched.delete(oldest);
    }
    return isNew;
  }

  /** Stops reading calls while too many are in progress, or too many answers are unread. */
  checkLoad(): void {
    const isLoaded = this.#running > CALLS || this.link.waiting > UNREAD_CHARACTERS;
    if (isLoaded === this.#isPaused) return;
    this.#isPaused = isLoaded;
    if (isLoaded) this.link.pause();
    else this.link.resume();
  }
}

/** Collects batches of all processes while one is being written. The next ones share a commit. */
class FileWrites {
  readonly #file: ServedFile;
  #waiting: FileWrite[] = [];
  #isBusy = false;

  constructor(file: ServedFile) {
    this.#file = file;
  }

  write(bytes: Uint8Array, again: boolean): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    // Copied, because the bytes are a view of a socket chunk, and posting a view would copy the whole chunk.
    this.#waiting.push({ batch: [new Uint8Array(bytes), again], resolve, reject });
    if (!this.#isBusy) this.#send();
    return promise;
  }

  #send(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    this.#isBusy = writes.length > 0;
    if (!this.#isBusy) return;
    this.#file.write(writes.map(({ batch }) => batch)).then(
      (results) => {
        this.#send();
        for (const [at, { resolve }] of writes.entries()) resolve(results[at] as Uint8Array);
      },
      (error: unknown) => {
        this.#send();
        for (const { reject } of writes) reject(error);
      },
    );
  }
}

interface FileWrite {
  readonly batch: FileBatch;
  readonly resolve: (results: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

function callsOf(storage: TaskStorage, own: Readonly<Record<string, object>>): ReadonlyMap<unknown, Run> {
  const { keys, push, owners } = storage;
  const ports: Readonly<Record<string, object>> = { '': storage, keys, push, owners, ...own };
  return new Map(
    REMOTE_CALLS.filter((call) => call !== 'close' && call !== 'file.write').map((call) => {
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
