import { StorageError } from '../errors/storage-error.js';
import type { TaskState } from '../model/task-state.js';
import type { RecordTexts } from '../task/log-record.js';
import type { TurnTexts } from './held-turn.js';
import type { Scope } from './task-key.js';

/** A turn that waits. Turns that ran in a process that has ended wait as well. */
export interface CopiedTurn extends TurnTexts {
  readonly turn: number;
  /** Count of the attempts in which its agent began. */
  readonly attempt: number;
  readonly handOvers: number;
}

/** A push configuration with its queue of deliveries. `config` is JSON. */
export interface CopiedPushConfig {
  readonly id: string;
  readonly config: string;
  readonly position: number;
  readonly attempts: number;
  readonly dueAt: number | null;
  readonly lastStatus: number | null;
  readonly parked: string | null;
}

/**
 * A task with all that hangs on it. Members of the task are JSON, as they stand after its last record. Times are ms
 * since the epoch. Nothing in it is held by a node.
 */
export interface CopiedTask {
  readonly scope: Scope;
  readonly id: string;
  readonly contextId: string | null;
  readonly state: TaskState;
  readonly statusTime: number;
  readonly createdAt: number;
  /** The time at which it reached a terminal state. */
  readonly endedAt: number | null;
  readonly seq: number;
  /** Sequence number of the first record that is kept. */
  readonly floor: number;
  readonly epoch: number;
  /** Count of turns that were accepted. */
  readonly turnCount: number;
  /** The last turn that its records name. */
  readonly lastTurn: number;
  readonly status: string;
  readonly metadata: string | null;
  readonly history: string | null;
  readonly artifacts: string | null;
  readonly records: readonly RecordTexts[];
  /** In their order. */
  readonly turns: readonly CopiedTurn[];
  readonly pushConfigs: readonly CopiedPushConfig[];
}

/** An idempotency key with its outcome: a task and a turn, or a reply as JSON. */
export interface CopiedKey {
  readonly scope: Scope;
  readonly key: string;
  readonly digest: string;
  /** ms since the epoch. */
  readonly expiresAt: number;
  readonly taskId: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
}

/** A server writes a heartbeat every few seconds. Without one for this time it counts as ended. */
export const SILENCE_MS = 20_000;

/** The refusal of a storage that a server has used in the last seconds. */
export function inUseError(subject: string): StorageError {
  const remedy = `stop it, and wait for ${SILENCE_MS / 1_000} s`;
  return new StorageError(`A server has used ${subject} in the last seconds: ${remedy}`);
}

/** About what records take in a storage. */
export function recordBytes(records: readonly RecordTexts[]): number {
  const lengths = records.flatMap(({ event, history, metadata }) =>
    [event, history, metadata].map((text) => text?.length ?? 0),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** The content of a storage in numbers. */
export interface TransferCounts {
  readonly tasks: number;
  readonly records: number;
  readonly turns: number;
  readonly pushConfigs: number;
  /** Idempotency keys whose outcome is known. */
  readonly keys: number;
}

/**
 * A storage that no server uses, as one end of a copy. Opening it fails while a server uses the storage, and keeps
 * servers away as far as the backend can.
 * Methods reject with StorageError.
 */
interface TransferEnd {
  counts(): Promise<TransferCounts>;
  close(): Promise<void>;
}

/** The source of a copy. */
export interface TransferSource extends TransferEnd {
  /** All tasks, oldest first. One task at a time is in memory. */
  tasks(): AsyncIterable<CopiedTask>;
  keys(): AsyncIterable<CopiedKey>;
}

/** The target of a copy. */
export interface TransferTarget extends TransferEnd {
  /** Writes each task wholly or not at all. Leaves out those that are there. Resolves to the count of written tasks. */
  putTasks(tasks: readonly CopiedTask[]): Promise<number>;
  /** Writes keys. Leaves out those that are there. */
  putKeys(keys: readonly CopiedKey[]): Promise<void>;
}

/** A storage that can be either end of a copy. */
export interface TaskTransfer extends TransferSource, TransferTarget {}
