import { A2AError } from '../errors/a2a-error.js';
import { StorageError } from '../errors/storage-error.js';
import { isTerminal } from '../model/task-state.js';
import type { Scope, TaskKey } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import { LogRecord } from '../task/log-record.js';
import { ShapedTask } from '../task/shaped-task.js';
import { OPEN_STATES, type OwnerCounts, type OwnerDataOptions, recordedOwnerAct, tasksOf } from './owner-data.js';

/** Options of an erasure. */
export interface EraseOwnerOptions extends OwnerDataOptions {
  /** Time in which running turns may end by themselves after the request to cancel, in ms. Default: 10 s. */
  readonly graceMs?: number | undefined;
  /** Called with the counts so far. */
  readonly onProgress?: ((counts: ErasedCounts) => void) | undefined;
}

/** The counts of an erasure. */
export interface ErasedCounts extends Omit<OwnerCounts, 'openTasks'> {
  /** Turns that ran, and were canceled first. */
  readonly canceledTurns: number;
}

/** Duration of the block, in ms. It is extended while the erasure runs, and ends by itself if its process dies. */
const BLOCK_MS = 30_000;
const EXTEND_MS = 5_000;
const GRACE_MS = 10_000;
/** Pause between two checks whether the canceled turns have ended. */
const LOOK_MS = 100;
const PAGE = 200;
/** Open tasks of which one call is made at once. A storage may read each as a whole. */
const AT_ONCE = 32;
/** Maximum number of rounds. New data can come only if a block has ended, so one or two are enough. */
const ROUNDS = 20;

/**
 * Erases all data of a user. First turns are canceled. Then tasks with their events, webhooks and idempotency keys are
 * deleted, and files. Names of scopes are deleted last, so that a repeated call finds the data that an interrupted one
 * has left. New messages of the user are refused with UNAVAILABLE meanwhile, in all processes on the storage.
 * @throws StorageError if something cannot be erased; A2AError UNSUPPORTED_OPERATION for a file store without `owners`.
 */
export async function eraseOwner(options: EraseOwnerOptions): Promise<ErasedCounts> {
  const erasure = new Erasure(options);
  return recordedOwnerAct(
    'eraseOwner',
    options,
    () => erasure.run(),
    () => ({ ...erasure.counts }),
  );
}

class Erasure {
  readonly #options: EraseOwnerOptions;
  readonly counts = { scopes: 0, tasks: 0, canceledTurns: 0, idempotencyKeys: 0, files: 0, uploads: 0 };
  readonly #agents = new Set<string>();

  constructor(options: EraseOwnerOptions) {
    this.#options = options;
  }

  async run(): Promise<ErasedCounts> {
    const { storage, owner, files } = this.#options;
    const { owners } = storage;
    if (files !== undefined && files.owners === undefined) {
      throw new A2AError(
        'UNSUPPORTED_OPERATION',
        'The file store cannot erase the files of a user: it has no `owners`',
      );
    }
    const block = await this.#block();
    try {
      for (let round = 1; ; round += 1) {
        const scopes = await owners.scopes(owner);
        for (const { agent } of scopes) this.#agents.add(agent);
        await this.#cancel(scopes);
        for (const scope of scopes) await this.#eraseScope(scope);
        const erased = await files?.owners?.erase(owner, [...this.#agents]);
        this.#count({ files: erased?.files ?? 0, uploads: erased?.uploads ?? 0 });
        block.check();
        if (scopes.length === 0) break;
        if (round === ROUNDS) throw new StorageError(`New data came ${ROUNDS} times: repeat the erasure`);
      }
    } finally {
      await block.end();
    }
    await owners.scrub();
    return this.counts;
  }

  /** Blocks the owner, and extends the block until `end` is called. */
  async #block(): Promise<{ check(): void; end(): Promise<void> }> {
    const { clock, owner, storage } = this.#options;
    let failure: unknown;
    let extending: Promise<void> = Promise.resolve();
    let stop = () => {};
    const extend = () => {
      extending = storage.owners.block(owner, BLOCK_MS).then(
        () => {
          failure = undefined;
        },
        (error: unknown) => {
          failure = error;
        },
      );
      stop = clock.after(EXTEND_MS, extend);
    };
    await storage.owners.block(owner, BLOCK_MS);
    stop = clock.after(EXTEND_MS, extend);
    return {
      check: () => {
        if (failure !== undefined) throw failure;
      },
      end: async () => {
        stop();
        await extending;
        await storage.owners.block(owner, 0).catch(() => {});
      },
    };
  }

  /**
   * Requests the cancel of all open tasks, and waits for the running turns. Turns that do not end are fenced when their
   * tasks are erased.
   */
  async #cancel(scopes: readonly Scope[]): Promise<void> {
    const { storage, clock, graceMs = GRACE_MS } = this.#options;
    const until = clock.monotonic() + graceMs;
    let running: TaskKey[] = [];
    for (const scope of scopes) {
      await this.#forEachOpen(scope, async (key) => {
        const outcome = await storage.requestCancel(scope, key.id, {});
        // The answer for a running task does not contain it.
        if (outcome.kind === 'requested' && outcome.stored === undefined) running.push(key);
      });
    }
    this.#count({ canceledTurns: running.length });
    while (running.length > 0 && clock.monotonic() < until) {
      const known = await Promise.all(running.map((key) => isRunning(storage, key)));
      running = running.filter((_, at) => known[at]);
      if (running.length > 0) await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
    }
  }

  /** Makes a call for each open task of a scope. Some calls are made at once, so that they share commits. */
  async #forEachOpen(scope: Scope, call: (key: TaskKey) => Promise<void>): Promise<void> {
    const shape = { orderBy: 'created', artifacts: false, history: false } as const;
    const open = tasksOf(this.#options.storage, { scope, states: OPEN_STATES, limit: PAGE, ...shape });
    let keys: TaskKey[] = [];
    for await (const { task } of open) {
      keys.push({ scope, id: task.id });
      if (keys.length < AT_ONCE) continue;
      await Promise.all(keys.map(call));
      keys = [];
    }
    await Promise.all(keys.map(call));
  }

  async #eraseScope(scope: Scope): Promise<void> {
    const { storage } = this.#options;
    const running: TaskKey[] = [];
    await this.#forEachOpen(scope, async (key) => {
      if ((await storage.delete(scope, key.id)) === 'running') running.push(key);
      else this.#count({ tasks: 1 });
    });
    for (const key of running) await this.#deleteRunning(key);
    for (;;) {
      const { tasks, keys, isGone } = await storage.owners.erase(scope, PAGE);
      this.#count({ tasks, idempotencyKeys: keys, scopes: isGone ? 1 : 0 });
      if (isGone) return;
      if (tasks + keys === 0) {
        throw new StorageError(
          `Data of the agent ${JSON.stringify(scope.agent)} cannot be read and were not erased: repair the storage`,
        );
      }
    }
  }

  /** Deletes a task whose turn has not ended in time. The turn is fenced, and subscribers get CANCELED. */
  async #deleteRunning(key: TaskKey): Promise<void> {
    const { storage } = this.#options;
    await endByForce(storage, key);
    if ((await storage.delete(key.scope, key.id)) === 'deleted') this.#count({ tasks: 1 });
  }

  #count(more: Partial<ErasedCounts>): void {
    for (const [name, count] of Object.entries(more)) this.counts[name as keyof ErasedCounts] += count;
    this.#options.onProgress?.(this.counts);
  }
}

async function isRunning(storage: TaskStorage, { scope, id }: TaskKey): Promise<boolean> {
  const stored = await storage.task(scope, id).catch(() => undefined);
  return stored?.running === true;
}

/** Writes CANCELED over a running turn. Leaves a task that cannot be read or keeps changing to `erase`. */
async function endByForce(storage: TaskStorage, key: TaskKey): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const stored = await storage.task(key.scope, key.id).catch(() => undefined);
    if (stored === undefined || isTerminal(stored.task.status.state)) return;
    const { task, seq } = stored;
    const timestamp = new Date(await storage.now()).toISOString();
    const status = { state: 'TASK_STATE_CANCELED', timestamp } as const;
    const { id, contextId, artifacts, history, metadata } = task;
    const ended = new ShapedTask({ id, contextId, status, artifacts, history, metadata });
    const outcome = await storage.append({
      key,
      authority: 'force',
      after: seq,
      records: [new LogRecord(seq + 1, 0, { task: ended })],
      head: { status, metadata },
      snapshot: ended,
    });
    if (outcome.kind !== 'fenced') return;
  }
}
