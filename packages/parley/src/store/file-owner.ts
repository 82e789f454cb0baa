import type { TaskKey } from './task-key.js';
import type { WakeupListener } from './wakeups.js';

/** Requests to the writer of a file, in the form of its storage, and whether they may have been done already. */
export type FileBatch = readonly [requests: Uint8Array, again: boolean];

/** The file of a storage, for other processes that read it themselves. */
export interface ServedFile {
  readonly path: string;
  /** Resolves to the results of each batch when all are durable. They share a commit. */
  write(batches: readonly FileBatch[]): Promise<readonly Uint8Array[]>;
  /** Ends the leases of all other nodes, so that their turns and deliveries can be claimed. */
  keepLeases(nodes: readonly string[]): Promise<void>;
}

/** The process that writes a file, as one that reads it sees it. */
export interface FileOwner {
  readonly path: string;
  write(requests: Uint8Array): Promise<Uint8Array>;
  /** Says before its first lease that this process has the leases of a node. */
  hasNode(node: string): void;
  /** Asks for the wake-ups of a task. The first one comes at once if others write. */
  watch(key: TaskKey): void;
  /** Says that a turn of this process has changed a task. */
  appended(key: TaskKey): void;
  /** Wakes the other processes. */
  wake<Name extends keyof WakeupListener>(name: Name, about: Parameters<WakeupListener[Name]>[0]): void;
  /** Calls when the other processes wake this one. */
  onWakeup(listener: WakeupListener): void;
  /** Calls when this process has connected again: another owner may have opened another file at the path. */
  onReconnect(reopen: () => void): void;
}
