import type { TaskKey } from './task-key.js';
import type { WakeupListener } from './wakeups.js';

/**
 * Requests to the process that writes a file, in the format of its storage. `again`: they may have been executed
 * already.
 */
export type FileBatch = readonly [requests: Uint8Array, again: boolean];

/** The file of a storage, as the process that writes it offers it to readers in other processes. */
export interface ServedFile {
  readonly path: string;
  /** Resolves to the results of each batch when all are durable. All batches share one commit. */
  write(batches: readonly FileBatch[]): Promise<readonly Uint8Array[]>;
  /** Ends the leases of all other nodes, so that their turns and deliveries can be claimed. */
  keepLeases(nodes: readonly string[]): Promise<void>;
}

/** The process that writes a file, as seen by a process that only reads it. */
export interface FileOwner {
  readonly path: string;
  write(requests: Uint8Array): Promise<Uint8Array>;
  /** Announces, before its first lease, that this process holds the leases of a node. */
  hasNode(node: string): void;
  /** Subscribes to wake-ups of a task. The first one comes at once if other processes write. */
  watch(key: TaskKey): void;
  /** Reports that a turn of this process has changed a task. */
  appended(key: TaskKey): void;
  /** Sends a wake-up to the other processes. */
  wake<Name extends keyof WakeupListener>(name: Name, about: Parameters<WakeupListener[Name]>[0]): void;
  /** Adds a listener for wake-ups from the other processes. */
  onWakeup(listener: WakeupListener): void;
  /** `reopen` is called after a reconnection, because a new owner may have opened another file at the path. */
  onReconnect(reopen: () => void): void;
}
