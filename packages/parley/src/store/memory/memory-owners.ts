import type { OwnerBlocks } from '../owner-blocks.js';
import { isOwnedBy, type OwnerQuery } from '../owner-query.js';
import type { ErasedRows, OwnedKey, OwnedKeyPage, OwnerStorage } from '../owner-storage.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { MemorySpaces } from './memory-space.js';
import type { KeptKey } from './packed-keys.js';
import type { RememberedKeys } from './remembered-keys.js';
import type { TaskEntry } from './task-entry.js';

/** The parts of a storage that the data of its users are in. */
export interface MemoryOwnersOptions {
  readonly lifetime: ClockedLifetime;
  readonly spaces: MemorySpaces;
  readonly keys: RememberedKeys;
  readonly blocks: OwnerBlocks;
  /** Removes a task with all that hangs on it. */
  readonly remove: (entry: TaskEntry) => void;
}

/** The data of users in memory. */
export class MemoryOwners implements OwnerStorage {
  readonly #options: MemoryOwnersOptions;

  constructor(options: MemoryOwnersOptions) {
    this.#options = options;
  }

  async block(owner: OwnerQuery, forMs: number): Promise<void> {
    const { blocks, lifetime } = this.#options;
    blocks.set(owner, lifetime.now() + forMs);
  }

  async scopes(owner: OwnerQuery): Promise<readonly Scope[]> {
    this.#options.lifetime.check();
    return [...this.#options.spaces.scopes()].filter((scope) => isOwnedBy(owner, scope));
  }

  async keys(scope: Scope): Promise<OwnedKeyPage> {
    const { lifetime, spaces, keys } = this.#options;
    lifetime.check();
    const space = spaces.find(scope);
    return { keys: space === undefined ? [] : [...keys.of(space)].map(ownedKey) };
  }

  async erase(scope: Scope, limit: number): Promise<ErasedRows> {
    const { lifetime, spaces, keys, remove } = this.#options;
    lifetime.check();
    const space = spaces.find(scope);
    if (space === undefined) return { tasks: 0, keys: 0, isGone: true };
    const entries = [...space.tasks.values()].slice(0, limit);
    for (const entry of entries) remove(entry);
    const dropped = keys.drop(space, limit - entries.length);
    return { tasks: entries.length, keys: dropped, isGone: spaces.find(scope) === undefined };
  }

  async scrub(): Promise<void> {
    this.#options.lifetime.check();
  }
}

function ownedKey({ key, expiresAt, outcome }: KeptKey): OwnedKey {
  const none = { key, expiresAt, taskId: null, turn: null, reply: null };
  if (outcome === undefined) return none;
  return typeof outcome === 'string' ? { ...none, reply: outcome } : { ...none, ...outcome };
}
