import type { RecordPage, TaskKey, TaskQuery } from '../task-storage.js';
import type { FileOptions } from './open-file.js';
import type { AbandonedRow, RowPage } from './read-lists.js';
import type { Settled, WriteRequest } from './write-requests.js';
import type { LogLimits } from './write-tables.js';

/** What a worker is started for. */
export type WorkerTask =
  /** `resume`: this process had the file open before, so that its leases stand. */
  | ({ readonly role: 'writer'; readonly resume: boolean; readonly limits: LogLimits } & FileOptions)
  | { readonly role: 'reader'; readonly path: string };

/** What a reader can be asked. */
export type ReadRequest =
  | { readonly read: 'page'; readonly query: TaskQuery }
  | { readonly read: 'abandoned'; readonly agents: readonly string[]; readonly before: number; readonly limit: number }
  | { readonly read: 'records'; readonly key: TaskKey; readonly after: number; readonly maxBytes: number };

/** Records as texts: `seq`, `turn`, `event`, `history`, `metadata` of each. */
export interface TextRecords extends Omit<RecordPage, 'records'> {
  readonly records: readonly (readonly [number, number, string, string | null, string | null])[];
}

/** What a reader answers. */
export interface ReadResults {
  readonly page: RowPage;
  readonly abandoned: readonly AbandonedRow[];
  readonly records: TextRecords;
}

/** What goes to a worker: something to do, or its end. */
export type ToWorker = readonly [id: number, request: readonly WriteRequest[] | ReadRequest, again: boolean] | 'close';

/**
 * What comes from a worker: that it is ready or cannot be, its answers, rows that it cannot read, and from when to when
 * it cannot write.
 */
export type FromWorker =
  | readonly ['ready']
  | readonly ['failed', reason: string]
  | readonly ['health', fault: string | undefined]
  | readonly ['aside', row: string, reason: string]
  | readonly ['answer', id: number, answer: Settled | readonly Settled[]];
