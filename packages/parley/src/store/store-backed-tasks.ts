import { StorageError } from '../errors/storage-error.js';
import type { Task } from '../model/task.js';
import { isTerminal } from '../model/task-state.js';
import { violationsOf } from '../model/violations.js';
import { TransientMap } from '../runtime/transient-map.js';
import { ShapedTask } from '../task/shaped-task.js';
import { statusTime } from '../task/status-time.js';
import type { StorageCall } from './intercepted-storage.js';
import type { StoreBackedStorageOptions } from './store-backed-storage.js';
import type { Scope, TaskKey } from './task-key.js';
import type { Acceptance, AcceptOutcome, Append, AppendOutcome, StoredTask, TaskStorage } from './task-storage.js';

const PAGE = 100;
/** The metadata member with the scope of a task, only in the task store. */
const SCOPE = 'parley:scope';
const RESTARTED = 'The server was restarted before the task had ended';

type Arguments<Call extends keyof StoreBackedTasks> = Parameters<StoreBackedTasks[Call]>;

type OwnCall = (tasks: StoreBackedTasks, args: readonly unknown[]) => Promise<unknown>;

/** The calls that also use the task store. */
const OWN_CALLS: Partial<Record<StorageCall, OwnCall>> = {
  accept: (tasks, args) => tasks.accept(...(args as Arguments<'accept'>)),
  append: (tasks, args) => tasks.append(...(args as Arguments<'append'>)),
  create: (tasks, args) => tasks.create(...(args as Arguments<'create'>)),
  delete: (tasks, args) => tasks.delete(...(args as Arguments<'delete'>)),
  task: (tasks, args) => tasks.read(...(args as Arguments<'read'>)),
};

/** Returns the id of the task in the arguments of a call. */
function taskOf(args: readonly unknown[]): string | undefined {
  const [first = {}, second] = args as readonly [Partial<Acceptance & Append & Scope & TaskKey>?, unknown?];
  const { agent, scope, key, task, id } = first;
  if (key !== undefined) return key.id;
  if (scope !== undefined && task !== undefined) return 'create' in task ? task.create.id : task.id;
  if (scope !== undefined) return id;
  if (agent === undefined) return undefined;
  if (typeof second === 'string') return second;
  const named = second as { readonly id?: string; readonly taskId?: string } | undefined;
  return named?.taskId ?? named?.id;
}

/** The tasks of a task store, and the storage calls that write them through. */
export class StoreBackedTasks {
  readonly #options: StoreBackedStorageOptions;
  /** Scopes of the tasks that have not ended, by id. */
  readonly #scopes = new Map<string, Scope>();
  /** The last call in progress for each task. */
  readonly #last = new TransientMap<string, Promise<unknown>>();
  #loading: Promise<void> | undefined;

  constructor(options: StoreBackedStorageOptions) {
    this.#options = options;
  }

  /** Executes a call of the storage. `run` executes it on the working storage. */
  answer(call: StorageCall, args: readonly unknown[], run: () => unknown): Promise<unknown> {
    if (call === 'close') return this.#settled().then(run);
    const own = OWN_CALLS[call];
    return this.#inOrder(taskOf(args), async () => (own === undefined ? run() : own(this, args)));
  }

  /** Runs the calls for one task one after the other. Other calls wait for all calls in progress. */
  #inOrder<T>(key: string | undefined, call: () => Promise<T>): Promise<T> {
    const earlier = key === undefined ? this.#settled() : this.#last.get(key);
    const result = Promise.all([this.#loaded(), earlier?.catch(() => {})]).then(call);
    if (key === undefined) return result;
    this.#last.set(key, result);
    const forget = () => {
      if (this.#last.get(key) === result) this.#last.delete(key);
    };
    result.then(forget, forget);
    return result;
  }

  /** Resolves when all calls in progress have settled. */
  async #settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const { working } = this.#options;
    const { scope, task } = acceptance;
    if (!('create' in task)) {
      await this.read(scope, task.id);
      return working.accept(acceptance);
    }
    const outcome = await working.accept(acceptance);
    if (outcome.kind !== 'accepted') return outcome;
    const { taskId: id, claim } = outcome;
    const key = { scope, id };
    try {
      await this.#write(scope, id, 'create');
      this.#scopes.set(id, scope);
      return outcome;
    } catch (error) {
      if (claim) await working.release({ key, turn: claim.turn, epoch: claim.epoch, attempt: claim.attempt }, 'done');
      await working.delete(scope, id);
      throw error;
    }
  }

  async append(append: Append): Promise<AppendOutcome> {
    const { scope, id } = append.key;
    const outcome = await this.#options.working.append(append);
    if (outcome.kind !== 'appended' || !this.#scopes.has(id)) return outcome;
    await this.#write(scope, id, 'update');
    if (isTerminal(append.head.status.state)) this.#scopes.delete(id);
    return outcome;
  }

  async create(scope: Scope, task: Task): Promise<boolean> {
    const { store } = this.#options;
    if ((await this.read(scope, task.id)) !== undefined) return false;
    if ((await askStore(() => store.get(task.id))) ?? undefined) return false;
    if (!(await this.#takeIn({ scope, task }))) return false;
    await this.#write(scope, task.id, 'create');
    return true;
  }

  async delete(scope: Scope, id: string): ReturnType<TaskStorage['delete']> {
    await this.read(scope, id);
    const outcome = await this.#options.working.delete(scope, id);
    if (outcome !== 'deleted') return outcome;
    this.#scopes.delete(id);
    await askStore(() => this.#options.store.delete(id));
    return outcome;
  }

  /** The working storage may have dropped a task that the store still has. */
  async read(scope: Scope, id: string): Promise<StoredTask | undefined> {
    const { working, store } = this.#options;
    const known = await working.task(scope, id);
    if (known !== undefined) return known;
    const kept = this.#read(await askStore(() => store.get(id)));
    if (kept?.task.id !== id || !isSame(kept.scope, scope)) return undefined;
    await this.#takeIn(kept);
    return working.task(scope, id);
  }

  /** Resolves when the tasks of the store are loaded. A failed load is repeated by the next call. */
  #loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { store } = this.#options;
    const all = new Map<string, Task>();
    for (let offset = 0; ; offset += PAGE) {
      const page = await askStore(() => store.list({ limit: PAGE, offset }));
      const known = all.size;
      for (const task of page) all.set(task.id, task);
      // A store that ignores the offset returns the same page forever.
      if (page.length < PAGE || all.size === known) break;
    }
    for (const task of all.values()) {
      const kept = this.#read(task);
      if (kept === undefined) continue;
      const open = !isTerminal(kept.task.status.state);
      await this.#takeIn(open ? { ...kept, task: this.#restarted(kept.task) } : kept);
      if (open) await this.#write(kept.scope, kept.task.id, 'update');
    }
  }

  /** Returns a task of the store with its scope. An invalid task is logged and skipped. */
  #read(given: Task | null | undefined): KeptTask | undefined {
    if (given === undefined || given === null) return undefined;
    const { agent, logger } = this.#options;
    const task = JSON.parse(JSON.stringify(given)) as Task;
    const violations = violationsOf('Task', task);
    if (violations.length > 0) {
      logger.error('the task store has a task that is not valid', { taskId: String(given.id), violations });
      return undefined;
    }
    const { [SCOPE]: scope, ...metadata } = task.metadata ?? {};
    const own = { agent, tenant: '', owner: null, ...(scope as Partial<Scope> | undefined) };
    const { metadata: _, ...members } = task;
    return { scope: own, task: Object.keys(metadata).length > 0 ? { ...members, metadata } : members };
  }

  async #takeIn({ scope, task }: KeptTask): Promise<boolean> {
    const { id, contextId, status, artifacts, history, metadata } = task;
    const shaped = new ShapedTask({ id, contextId, status, artifacts, history, metadata });
    if (!(await this.#options.working.create(scope, shaped))) return false;
    if (!isTerminal(status.state)) this.#scopes.set(id, scope);
    return true;
  }

  #restarted(task: Task): Task {
    const { clock, ids } = this.#options;
    const { id: taskId, contextId } = task;
    const about = { taskId, ...(contextId !== undefined && { contextId }) };
    const message = { messageId: ids.random(), role: 'ROLE_AGENT', parts: [{ text: RESTARTED }], ...about } as const;
    const timestamp = new Date(Math.max(clock.now(), statusTime(task.status))).toISOString();
    return { ...task, status: { state: 'TASK_STATE_FAILED', message, timestamp } };
  }

  /** Writes a copy of the current task, with its scope unless that is the default. */
  async #write(scope: Scope, id: string, how: 'create' | 'update'): Promise<void> {
    const { working, store, agent } = this.#options;
    const stored = await working.task(scope, id);
    if (stored === undefined) return;
    const copy = JSON.parse(ShapedTask.textOf(stored.task)) as Task;
    const named = { agent: scope.agent, tenant: scope.tenant, owner: scope.owner };
    const isDefault = isSame(named, { agent, tenant: '', owner: null });
    await askStore(() => store[how](isDefault ? copy : { ...copy, metadata: { ...copy.metadata, [SCOPE]: named } }));
  }
}

interface KeptTask {
  readonly scope: Scope;
  readonly task: Task;
}

function isSame(one: Scope, other: Scope): boolean {
  return one.agent === other.agent && one.tenant === other.tenant && one.owner === other.owner;
}

async function askStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new StorageError('The task store failed', { cause });
  }
}
