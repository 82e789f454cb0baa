import type { Scope } from '../task-key.js';
import type { TaskEntry } from './task-entry.js';
import { groupOf, TaskLists } from './task-lists.js';

/** An odd number, so that all salts differ until the sequence repeats. */
const SALT_STEP = 0x9e3779b1;

/** The tasks, lists and keys of one scope. */
export class MemorySpace {
  readonly scope: Scope;
  readonly tasks = new Map<string, TaskEntry>();
  /** A salt for the hashes of keys, different in each space. */
  readonly salt: number;
  /** The idempotency keys of the scope. */
  keyCount = 0;
  /** The lists, once they are built. Set only by the space itself. */
  madeLists: TaskLists | undefined;

  constructor(scope: Scope, salt: number) {
    const { agent, tenant, owner } = scope;
    this.salt = salt;
    this.scope = { agent, tenant, owner };
  }

  /** The lists of the tasks, built at the first read. */
  get lists(): TaskLists {
    this.madeLists ??= new TaskLists(this.tasks.values());
    return this.madeLists;
  }
}

/** The spaces of all scopes. The owner `null` differs from every string. */
export class MemorySpaces {
  readonly #agents = new Map<string, Map<string, Map<string | null, MemorySpace>>>();
  #salt = 0;

  find({ agent, tenant, owner }: Scope): MemorySpace | undefined {
    return this.#agents.get(agent)?.get(tenant)?.get(owner);
  }

  /** Returns the space of a scope, and creates it if it is missing. */
  of(scope: Scope): MemorySpace {
    return this.find(scope) ?? this.#add(scope);
  }

  /** The scopes that have any data. */
  *scopes(): Generator<Scope> {
    for (const { scope } of this.#all()) yield scope;
  }

  /** The tasks of all scopes. */
  *tasks(): Generator<TaskEntry> {
    for (const { tasks } of this.#all()) yield* tasks.values();
  }

  /** Deletes a space without tasks and keys. */
  release({ scope, tasks, keyCount }: MemorySpace): void {
    if (tasks.size > 0 || keyCount > 0) return;
    const tenants = this.#agents.get(scope.agent);
    const owners = tenants?.get(scope.tenant);
    if (owners?.delete(scope.owner) && owners.size === 0) tenants?.delete(scope.tenant);
  }

  *#all(): Generator<MemorySpace> {
    for (const tenants of this.#agents.values()) for (const owners of tenants.values()) yield* owners.values();
  }

  #add(scope: Scope): MemorySpace {
    this.#salt = (this.#salt + SALT_STEP) | 0;
    const space = new MemorySpace(scope, this.#salt);
    const tenants = groupOf(this.#agents, scope.agent, () => new Map());
    groupOf(tenants, scope.tenant, () => new Map()).set(scope.owner, space);
    return space;
  }
}
