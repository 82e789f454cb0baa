import { StorageError } from '../errors/storage-error.js';
import type { TaskState } from '../model/task-state.js';
import type { RecordTexts } from '../task/log-record.js';
import type { TurnTexts } from './held-turn.js';
import type { Scope } from './task-key.js';

/** A waiting turn. Turns that ran in a process that has ended are waiting as well. */
export interface CopiedTurn extends TurnTexts {
  readonly turn: number;
  /** Number of attempts whose agent started. */
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
 * A task with its records, turns and push configurations. Members of the task are JSON, as of its last record. Times
 * are ms since the epoch. No node holds anything of it.
 */
export interface CopiedTask {
  readonly scope: Scope;
  readonly id: string;
  readonly contextId: string | null;
  readonly state: TaskState;
  readonly statusTime: number;
  readonly createdAt: number;
  /** The time of its terminal state. */
  readonly endedAt: number | null;
  readonly seq: number;
  /** Sequence number of the first stored record. */
  readonly floor: number;
  readonly epoch: number;
  /** Number of accepted turns. */
  readonly turnCount: number;
  /** The last turn with a record. */
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

/** A server without a heartbeat for this time, in ms, counts as ended. Servers send one every few seconds. */
export const SILENCE_MS = 20_000;

/** Returns the error for a storage that a server has used within this time. */
export function inUseError(subject: string): StorageError {
  const remedy = `stop it, and wait for ${SILENCE_MS / 1_000} s`;
  return new StorageError(`A server has used ${subject} in the last seconds: ${remedy}`);
}

/** Approximate bytes of records in a storage. */
export function recordBytes(records: readonly RecordTexts[]): number {
  const lengths = records.flatMap(({ event, history, metadata }) =>
    [event, history, metadata].map((text) => text?.length ?? 0),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** The numbers of rows of a storage. */
export interface TransferCounts {
  readonly tasks: number;
  readonly records: number;
  readonly turns: number;
  readonly pushConfigs: number;
  /** Idempotency keys with an outcome. */
  readonly keys: number;
}

/**
 * A storage without a running server, as source or target of a copy. Opening it fails while a server uses it, and
 * excludes servers as far as the backend can.
 * Methods reject with StorageError.
 */
interface TransferEnd {
  counts(): Promise<TransferCounts>;
  close(): Promise<void>;
}

/** The source of a copy. */
export interface TransferSource extends TransferEnd {
  /** All tasks, oldest first. Only one task at a time is in memory. */
  tasks(): AsyncIterable<CopiedTask>;
  keys(): AsyncIterable<CopiedKey>;
}

/** The target of a copy. */
export interface TransferTarget extends TransferEnd {
  /** Writes each task atomically. Skips existing ones. Resolves to the number of written tasks. */
  putTasks(tasks: readonly CopiedTask[]): Promise<number>;
  /** Writes keys. Skips existing ones. */
  putKeys(keys: readonly CopiedKey[]): Promise<void>;
}

/** A storage that can be source or target of a copy. */
export interface TaskTransfer extends TransferSource, TransferTarget {}
