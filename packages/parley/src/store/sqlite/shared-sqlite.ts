import { isTerminal } from '../../model/task-state.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { FileOwner } from '../file-owner.js';
import type { CancelRequest } from '../held-turn.js';
import type { Scope, TaskKey } from '../task-key.js';
import type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  CancelOutcome,
  NodeBeat,
  RecordPage,
  StorageLoad,
  StorageNode,
  StoredTask,
  TaskProgress,
  TaskStorage,
} from '../task-storage.js';
import { LocalWakeups } from '../wakeups.js';
import { packRequests, unpackResults } from './foreign-batches.js';
import { openForReading } from './open-file.js';
import { openedFiles } from './opened-files.js';
import { ReadTables } from './read-tables.js';
import { RestartingWorker } from './restarting-worker.js';
import { SetAside } from './set-aside.js';
import type { OpenFile } from './sqlite-file.js';
import { OpenedSqlite } from './sqlite-storage.js';

type RemoteOwner = TaskStorage & Required<Pick<TaskStorage, 'rateCounters' | 'siblings'>>;

/** Options of a file that another process writes. */
interface SharedSqliteOptions {
  readonly owner: FileOwner;
  /** The storage of that process, for data outside of the file. It is closed with this one. */
  readonly remote: RemoteOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The compiled `sqlite-worker.js`. */
  readonly worker: URL;
}

/** A file that another process writes: this process reads it, and sends its writes to that process. */
export class SharedSqlite extends OpenedSqlite {
  override readonly shared = true;
  readonly rateCounters: RemoteOwner['rateCounters'];
  readonly siblings: RemoteOwner['siblings'];
  readonly #owner: FileOwner;
  readonly #remote: RemoteOwner;

  constructor({ owner, remote, clock, logger, worker }: SharedSqliteOptions) {
    const { durability } = remote;
    const file = new SharedFile({ owner, durability, logger, worker });
    super({ clock, file, wakeups: new RelayedWakeups(owner), onLease: (node) => owner.hasNode(node) });
    this.rateCounters = remote.rateCounters;
    this.siblings = remote.siblings;
    this.#owner = owner;
    this.#remote = remote;
  }

  override async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const outcome = await super.accept(acceptance);
    if (outcome.kind === 'accepted' && outcome.claim === undefined)
      this.#owner.watch({ scope: acceptance.scope, id: outcome.taskId });
    return outcome;
  }

  override async append(append: Append): Promise<AppendOutcome> {
    const outcome = await super.append(append);
    if (outcome.kind === 'appended' && typeof append.authority === 'number') this.#owner.appended(append.key);
    return outcome;
  }

  override async requestCancel(scope: Scope, id: string, request: CancelRequest): Promise<CancelOutcome> {
    this.#owner.watch({ scope, id });
    return super.requestCancel(scope, id, request);
  }

  override async task(scope: Scope, id: string): Promise<StoredTask | undefined> {
    const stored = await super.task(scope, id);
    if (stored !== undefined && !isTerminal(stored.task.status.state)) this.#owner.watch({ scope, id });
    return stored;
  }

  override async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    this.#owner.watch(key);
    return super.records(key, after, maxBytes);
  }

  override async heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    const heads = await super.heads(keys);
    for (const [at, key] of keys.entries()) {
      const state = heads[at]?.state;
      if (state !== undefined && !isTerminal(state)) this.#owner.watch(key);
    }
    return heads;
  }

  /** Both processes count their own unreadable rows, which may be the same ones. */
  override async check(): Promise<StorageLoad> {
    const [here, there] = await Promise.all([super.check(), this.#remote.check()]);
    const unreadable = Math.max(here.unreadable ?? 0, there.unreadable ?? 0);
    return { ...here, ...(unreadable > 0 && { unreadable }) };
  }

  override heartbeat(beat: NodeBeat): Promise<number> {
    return this.#remote.heartbeat(beat);
  }

  override nodes(): Promise<readonly StorageNode[]> {
    return this.#remote.nodes();
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#remote.close();
  }
}

/** The connections of this process to a file that another one writes. */
class SharedFile implements OpenFile {
  readonly path: string;
  readonly durability: OpenFile['durability'];
  readonly writer: OpenFile['writer'];
  readonly setAside: SetAside;
  #open: { readonly tables: ReadTables; readonly reader: RestartingWorker };

  constructor({
    owner,
    durability,
    logger,
    worker,
  }: Pick<SharedSqliteOptions, 'owner' | 'logger' | 'worker'> & Pick<TaskStorage, 'durability'>) {
    const { path } = owner;
    this.path = path;
    this.durability = durability === 'process' ? 'process' : 'power-loss';
    this.setAside = new SetAside({ path, logger });
    const onAside = (row: string, reason: string) => this.setAside.add(row, reason);
    this.writer = { ask: async (requests) => unpackResults(await owner.write(packRequests(requests))) };
    const open = () => ({
      tables: new ReadTables(openForReading(path, 'main'), onAside),
      reader: new RestartingWorker({
        ...{ worker, logger, onAside },
        task: () => ({ role: 'reader', path, files: openedFiles(path) }),
      }),
    });
    this.#open = open();
    owner.onReconnect(() => {
      const { tables, reader } = this.#open;
      this.#open = open();
      tables.close();
      void reader.close();
    });
  }

  get tables(): ReadTables {
    return this.#open.tables;
  }

  get reader(): RestartingWorker {
    return this.#open.reader;
  }

  async close(): Promise<void> {
    await this.reader.close();
    this.tables.close();
  }
}

/** Wake-ups of this process, and of the others through the owner of the file. */
class RelayedWakeups extends LocalWakeups {
  readonly #owner: FileOwner;

  constructor(owner: FileOwner) {
    super();
    this.#owner = owner;
    owner.onWakeup({
      taskChanged: (key) => super.taskChanged(key),
      workReady: (agent) => super.workReady(agent),
      cancelAsked: (key) => super.cancelAsked(key),
      deliveryReady: (agent) => super.deliveryReady(agent),
    });
  }

  override taskChanged(key: TaskKey): void {
    super.taskChanged(key);
    this.#owner.wake('taskChanged', key);
  }

  override workReady(agent: string): void {
    super.workReady(agent);
    this.#owner.wake('workReady', agent);
  }

  override cancelAsked(key: TaskKey): void {
    super.cancelAsked(key);
    this.#owner.wake('cancelAsked', key);
  }

  override deliveryReady(agent: string): void {
    super.deliveryReady(agent);
    this.#owner.wake('deliveryReady', agent);
  }
}
