import { StorageError } from '../src/errors/storage-error.js';
import type { Claim, Claims } from '../src/store/held-turn.js';
import { type Intercept, interceptedStorage, type StorageCall } from '../src/store/intercepted-storage.js';
import type { AcceptOutcome, Append, AppendOutcome, TaskStorage } from '../src/store/task-storage.js';
import { FaultyWakeups, type WakeupFate } from './faulty-wakeups.js';
import { settlePromises } from './manual-clock.js';
import { publishAppend } from './shared-view.js';

/** `late`: the operation runs, but its caller gets the result only after another pick. */
type Fate = 'run' | 'late' | 'fail';

/** The state of a process: killed, or shut down in order. */
interface StorageUser {
  readonly dead: boolean;
  readonly closed?: boolean;
}

interface Operation {
  readonly name: string;
  readonly user: StorageUser;
  readonly run: (fate: Fate) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Storage operations that wait until they are picked, in any order. That allows every interleaving of commits in a real
 * store. `view` is the storage of one process, alone or with others. A dead process can only go on with appends. A
 * closed process has closed its view: its calls fail.
 */
export class ScheduledStorage {
  readonly #storage: TaskStorage;
  readonly #shared: boolean;
  readonly #fate: () => WakeupFate;
  readonly #wakeups: FaultyWakeups[] = [];
  #operations: Operation[] = [];
  readonly #epochs = new Map<string, number>();
  /** Appends of a turn that were accepted after a newer claim of its task. There must be none. */
  readonly overtaken: Append[] = [];

  constructor(storage: TaskStorage, shared: boolean, wakeups: () => WakeupFate = () => 'deliver') {
    this.#storage = storage;
    this.#shared = shared;
    this.#fate = wakeups;
  }

  get pending(): number {
    return this.#operations.length;
  }

  /** The waiting operations, in the order of their calls. */
  get names(): readonly string[] {
    return this.#operations.map(({ name }) => name);
  }

  /** Runs or fails one of the waiting operations. */
  async pick(index: number, fate: Fate = 'run'): Promise<void> {
    const [operation] = this.#operations.splice(index % Math.max(1, this.#operations.length), 1);
    if (fate !== 'fail') operation?.run(fate);
    else operation?.fail(new StorageError('The disk is full'));
    await settlePromises();
  }

  /** Runs all operations of a process. */
  settle(user: StorageUser): void {
    const own = this.#operations.filter((operation) => operation.user === user);
    this.#operations = this.#operations.filter((operation) => operation.user !== user);
    for (const operation of own) operation.run('run');
  }

  /** The wake-ups that were held arrive. */
  releaseWakeups(): void {
    for (const wakeups of this.#wakeups) wakeups.release();
  }

  view(user: StorageUser): TaskStorage {
    const shared = this.#shared;
    const operations = () => this.#operations;
    const observed = this.#observed.bind(this);
    const wakeups = new FaultyWakeups(this.#storage.wakeups, () =>
      user.dead ? 'lose' : shared ? this.#fate() : 'deliver',
    );
    this.#wakeups.push(wakeups);
    const intercept: Intercept = (name, args, make) => {
      if (user.dead && name !== 'append') return new Promise(() => {});
      if (user.closed) return Promise.reject(new StorageError('The storage is closed'));
      return new Promise((resolve, reject) => {
        const run = (fate: Fate) => {
          const outcome = observed(name, args, make() as Promise<unknown>);
          const tell = () => resolve(outcome);
          if (fate === 'late') operations().push({ name: `answer of ${name}`, user, run: tell, fail: tell });
          else tell();
        };
        operations().push({ name, user, run, fail: reject });
      });
    };
    return interceptedStorage(this.#storage, intercept, { shared, wakeups });
  }

  async #observed(name: StorageCall, args: readonly unknown[], outcome: Promise<unknown>): Promise<unknown> {
    const result = await outcome;
    if (name === 'accept') this.#claimed((result as AcceptOutcome & { claim?: Claim }).claim);
    if (name === 'claim') for (const claim of (result as Claims).claims) this.#claimed(claim);
    if (name === 'append' && (result as AppendOutcome).kind === 'appended') {
      const append = args[0] as Append;
      if (this.#shared) publishAppend(this.#storage, append, result as AppendOutcome);
      const newest = this.#epochs.get(append.key.id) ?? 0;
      if (typeof append.authority === 'number' && append.authority < newest) this.overtaken.push(append);
    }
    return result;
  }

  #claimed(claim: Claim | undefined): void {
    if (claim) this.#epochs.set(claim.task.id, claim.epoch);
  }
}
