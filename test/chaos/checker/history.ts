import type { Message } from '../../../packages/parley/src/model/message.js';
import type { StreamResponse } from '../../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import type { DeliveryQueue } from '../../../packages/parley/src/store/push-storage.js';
import type { StoredTask } from '../../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../../packages/parley/src/task/log-record.js';

/** A task in the storage, after everything has come to rest. */
export interface StoredLog {
  readonly stored: StoredTask;
  readonly records: readonly LogRecord[];
  /** The lowest sequence number that the log still has. */
  readonly floor: number;
}

/** A part of a task that a client received, at the time `at`. */
export type Shown =
  | {
      readonly kind: 'event';
      readonly at: number;
      readonly taskId: string;
      readonly seq: number;
      readonly event: StreamResponse;
    }
  /** A snapshot in a stream. */
  | {
      readonly kind: 'snapshot';
      readonly at: number;
      readonly taskId: string;
      readonly seq: number;
      readonly task: Task;
    }
  /** A whole task in an answer, or in an answer that a stream has requested instead of an event. */
  | { readonly kind: 'task'; readonly at: number; readonly taskId: string; readonly task: Task }
  /** A task in a list, of which only the status counts. */
  | { readonly kind: 'listed'; readonly at: number; readonly taskId: string; readonly task: Task }
  | { readonly kind: 'reply'; readonly at: number; readonly message: Message };

/** The operations of the load. */
export type Operation = 'send' | 'stream' | 'subscribe' | 'get' | 'list' | 'cancel' | 'config' | 'configs' | 'unconfig';

/** A call of a client with everything that it received. */
export interface ClientCall {
  readonly id: string;
  readonly operation: Operation;
  readonly agent: string;
  readonly startedAt: number;
  readonly shown: readonly Shown[];
  /** The task that the call names, or that the agent has created for it. */
  readonly taskId?: string | undefined;
  readonly messageId?: string;
  /** `Last-Event-ID` of a subscription. */
  readonly after?: number;
  /** The push configuration that the call names. */
  readonly configId?: string | undefined;
  readonly endedAt?: number;
  /**
   * `answered`: the call succeeded, a stream came to its end. `refused`: the agent gave a definite error. `left`: the
   * client left a stream. `unknown`: no outcome arrived.
   */
  readonly outcome: 'answered' | 'refused' | 'left' | 'unknown';
  /** Code and message. */
  readonly error?: string;
}

/** One run of an agent, from the journal of its process. */
export interface AgentRun {
  readonly id: string;
  readonly process: string;
  readonly agent: string;
  readonly taskId: string;
  readonly messageId: string;
  readonly attempt: number;
  readonly startedAt: number;
  /** The last record of the turn at the start of the run; 0 without one; absent if the read failed. */
  readonly saw?: number;
  /** Number of events that the storage has acknowledged to the agent. */
  readonly flushed: number;
  readonly abortedAt?: number;
  readonly endedAt?: number;
}

/** A process of a replica. */
export interface ReplicaLife {
  readonly process: string;
  readonly endedAt?: number;
  /** The code or the signal of its end, if the harness did not cause it. */
  readonly ownEnd?: string;
  /** Times in which the process could not react. */
  readonly stalls: readonly { readonly from: number; readonly to: number }[];
}

/** A notification that arrived at the webhook. */
export interface Arrival {
  readonly at: number;
  readonly taskId: string;
  readonly configId: string;
  readonly seq: number;
  readonly body: string;
  readonly acknowledged: boolean;
}

/** All records of a run of the harness. All times are ms of one monotonic clock. */
export interface History {
  readonly logs: readonly StoredLog[];
  readonly calls: readonly ClientCall[];
  readonly runs: readonly AgentRun[];
  readonly replicas: readonly ReplicaLife[];
  readonly arrivals: readonly Arrival[];
  readonly queues: readonly DeliveryQueue[];
  /** The time at which no task was working any more. */
  readonly restAt: number;
}

/** A broken promise, with its evidence. */
export interface Violation {
  readonly rule: string;
  readonly taskId?: string | undefined;
  readonly seq?: number | undefined;
  readonly evidence: string;
}

/** Formats a violation as a line. */
export function violationLine({ rule, taskId, seq, evidence }: Violation): string {
  const place = [...(taskId === undefined ? [] : [`task ${taskId}`]), ...(seq === undefined ? [] : [`seq ${seq}`])];
  return `${rule}: ${[...place, evidence].join(', ')}`;
}
