import type { FileBatch } from '../file-owner.js';
import type { OwnedTaskPage, OwnedTaskRange } from '../owner-storage.js';
import type { DeliveryPage, DeliveryQuery } from '../push-storage.js';
import type { TaskKey } from '../task-key.js';
import type { RecordPage, TaskQuery } from '../task-storage.js';
import type { FileOptions } from './open-file.js';
import type { OpenedFiles } from './opened-files.js';
import type { AbandonedRow } from './read-lists.js';
import type { Settled, WriteRequest } from './write-requests.js';
import type { LogLimits } from './write-tables.js';

/** The task of a worker thread. */
export type WorkerTask =
  /** `files`: the files that this process had open before. Its leases in them stay valid. */
  | ({
      readonly role: 'writer';
      readonly files: OpenedFiles | undefined;
      /** The leases in a file that this process opens for the first time. */
      readonly leases: 'void' | 'keep';
      readonly limits: LogLimits;
    } & FileOptions)
  | { readonly role: 'reader'; readonly path: string; readonly files: OpenedFiles };

/** Requests to a reader. */
export type ReadRequest =
  | { readonly read: 'abandoned'; readonly agents: readonly string[]; readonly before: number; readonly limit: number }
  | { readonly read: 'owned'; readonly range: OwnedTaskRange; readonly now: number }
  | { readonly read: 'deliveries'; readonly query: DeliveryQuery }
  | { readonly read: 'records'; readonly key: TaskKey; readonly after: number; readonly maxBytes: number };

/** Records as texts: `seq`, `turn`, `event`, `history` and `metadata` of each. */
interface TextRecords extends Omit<RecordPage, 'records'> {
  readonly records: readonly (readonly [number, number, string, string | null, string | null])[];
}

/** Batches of other processes for a writer: requests in the format of V8. The answer has the results of each. */
export interface ForeignBatches {
  readonly batches: readonly FileBatch[];
}

/** Queries for pages of lists for a reader. The answer has the result of each. */
interface PageQueries {
  readonly pages: readonly TaskQuery[];
}

/** Requests to a worker. */
export type WorkerRequest = readonly WriteRequest[] | ForeignBatches | ReadRequest | PageQueries;

/** The answer to a request. */
export type WorkerAnswer = Settled | readonly Settled[] | readonly Uint8Array[];

/** Answers of a reader. */
export interface ReadResults {
  readonly abandoned: readonly AbandonedRow[];
  readonly owned: OwnedTaskPage;
  readonly deliveries: DeliveryPage;
  readonly records: TextRecords;
}

/** Messages to a worker: a request, or the order to close. */
export type ToWorker = readonly [id: number, request: WorkerRequest, again: boolean] | 'close';

/** Messages from a worker: ready or failed, answers, unreadable rows, and the start and end of write outages. */
export type FromWorker =
  | readonly ['ready']
  | readonly ['failed', reason: string]
  | readonly ['health', fault: string | undefined]
  | readonly ['aside', row: string, reason: string]
  | readonly ['answer', id: number, answer: WorkerAnswer];
