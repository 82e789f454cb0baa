import type { LocalOwners } from '../engine/local-tables.js';
import type { OwnedKey, OwnedKeyPage, OwnedTaskPage, OwnedTaskRange } from '../owner-storage.js';
import { factsOfTask } from '../rules/task-head.js';
import type { Scope } from '../task-key.js';
import type { MemorySpaces } from './memory-space.js';
import type { MemoryTasks } from './memory-tasks.js';
import type { KeptKey } from './packed-keys.js';
import type { RememberedKeys } from './remembered-keys.js';
import type { TaskEntry } from './task-entry.js';

/** The dependencies of the data of users. */
interface MemoryOwnersOptions {
  readonly spaces: MemorySpaces;
  readonly keys: RememberedKeys;
  readonly tasks: Pick<MemoryTasks, 'remove' | 'ended'>;
}

/** The data of users in memory. */
export class MemoryOwners implements LocalOwners {
  readonly #options: MemoryOwnersOptions;

  constructor(options: MemoryOwnersOptions) {
    this.#options = options;
  }

  scopes(): Iterable<Scope> {
    return this.#options.spaces.scopes();
  }

  async tasks(range: OwnedTaskRange, now: number): Promise<OwnedTaskPage> {
    // Loaded on demand, because only operators list the tasks of all owners.
    const { FirstTasks } = await import('../first-tasks.js');
    const first = new FirstTasks<TaskEntry>(range);
    for (const entry of this.#options.spaces.tasks()) {
      if (entry.hasEnded === range.hasEnded) first.add(entry.endedAt ?? entry.statusTime, entry, entry);
    }
    return first.pageOf((entry) => {
      const { scope, id, statusTime } = entry;
      return factsOfTask({ scope, id }, entry, { statusTime, now });
    });
  }

  keys(scope: Scope): OwnedKeyPage {
    const { spaces, keys } = this.#options;
    const space = spaces.find(scope);
    return { keys: space === undefined ? [] : [...keys.of(space)].map(ownedKey) };
  }

  eraseTasks(scope: Scope, limit: number): readonly string[] {
    const { spaces, tasks } = this.#options;
    const entries = [...(spaces.find(scope)?.tasks.values() ?? [])].slice(0, limit);
    for (const entry of entries) tasks.remove(entry);
    return entries.map(({ id }) => id);
  }

  eraseKeys(scope: Scope, limit: number): number {
    const { spaces, keys } = this.#options;
    const space = spaces.find(scope);
    return space === undefined ? 0 : keys.drop(space, limit);
  }

  eraseName(): void {
    // The name of a scope is deleted with its last task or key.
  }

  scrub(): void {
    this.#options.tasks.ended.scrub();
  }
}

function ownedKey({ key, expiresAt, outcome }: KeptKey): OwnedKey {
  const none = { key, expiresAt, taskId: null, turn: null, reply: null };
  if (outcome === undefined) return none;
  return typeof outcome === 'string' ? { ...none, reply: outcome } : { ...none, ...outcome };
}
