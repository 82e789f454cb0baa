import type { TaskStorage } from '../store/task-storage.js';

/** A database of one process, which a storage process can open. */
export type ServedDatabase = { readonly eventLogBytes?: number } & (
  | { readonly backend: 'memory'; readonly maxTasks?: number; readonly maxBytes?: number }
  | { readonly backend: 'sqlite'; readonly path: string; readonly durability?: 'power-loss' | 'process' }
);

/** The databases that this process has opened, by their storages. */
export const servedDatabases = new WeakMap<TaskStorage, ServedDatabase>();
