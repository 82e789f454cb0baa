import { arrivalAt, oldestWaits } from '../rules/turn-place.js';
import type { StorageLoad } from '../task-storage.js';
import { accept, acceptedBefore, create, createdBefore } from './accept-task.js';
import { append } from './append-records.js';
import { claim, claimedBefore } from './claim-turns.js';
import {
  claimDeliveries,
  deliveriesClaimedBefore,
  purgeDelivery,
  replayDelivery,
  settleDelivery,
} from './delivery-queues.js';
import { DamagedRowError, fileFault, isLocked } from './file-fault.js';
import { begin, keepCheckpoint, leaveAside, release, renew, requestCancel } from './held-turns.js';
import { keepLeases, voidLeases } from './leases.js';
import type { FileWatch } from './opened-files.js';
import { blockOwner, eraseOwned } from './owned-scopes.js';
import { deletePushConfig, putPushConfig, rewriteConfig } from './push-configs.js';
import { remember, reserve, unreserve } from './remembered-keys.js';
import { deleteTask, sweep } from './retention.js';
import type { CheckWrite, Settled, WriteRequest, WriteResults } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** The options of a writer. */
interface SqliteWriterOptions {
  readonly path: string;
  readonly tables: WriteTables;
  readonly watch: FileWatch;
  /** Called with the reason when writes start to fail, and with `undefined` after the next success. */
  readonly onHealth: (fault: string | undefined) => void;
}

/** Executes batches of operations, each batch in one transaction. */
export class SqliteWriter {
  readonly #path: string;
  readonly #tables: WriteTables;
  readonly #watch: FileWatch;
  readonly #onHealth: SqliteWriterOptions['onHealth'];
  #failing = false;

  constructor({ path, tables, watch, onHealth }: SqliteWriterOptions) {
    this.#path = path;
    this.#tables = tables;
    this.#watch = watch;
    this.#onHealth = onHealth;
  }

  /** Ends all leases, because their processes have ended. Their turns can be claimed again. */
  voidLeases(): void {
    this.#transaction(() => voidLeases(this.#tables));
  }

  /**
   * Returns the results in the order of the operations. If a batch fails, each operation is tried in its own
   * transaction, unless another process has locked the file. `again`: another thread may already have executed the
   * batch.
   */
  write(batch: readonly WriteRequest[], again: boolean): readonly Settled[] {
    // VACUUM cannot run in a transaction.
    if (batch.some(([kind]) => kind === 'scrub')) return batch.map((request) => this.#alone(request, again));
    try {
      return this.#commit(batch, again).map((result) => [false, result]);
    } catch (error) {
      if (batch.length === 1) return [this.#failed(error)];
      // Another process holds a lock that the batch needs. Each single operation would wait for it again.
      if (isLocked(error)) return batch.map(() => this.#failed(error));
      return batch.map((request) => this.#alone(request, again));
    }
  }

  #alone(request: WriteRequest, again: boolean): Settled {
    try {
      if (request[0] === 'scrub') {
        this.#watch.check();
        this.#tables.scrub();
        return [false, undefined];
      }
      const [result] = this.#commit([request], again);
      return [false, result];
    } catch (error) {
      return this.#failed(error);
    }
  }

  #commit(batch: readonly WriteRequest[], again: boolean): unknown[] {
    const tables = this.#tables;
    const results = this.#transaction(() =>
      batch.map((request) => (again ? doneBefore(tables, request) : undefined) ?? perform(tables, request)),
    );
    if (this.#failing && tables.sql.wrote) {
      this.#failing = false;
      this.#onHealth(undefined);
    }
    return results;
  }

  /** Runs the work as one transaction. Restarts it without the rows that turn out to be damaged. */
  #transaction<R>(work: () => R): R {
    const tables = this.#tables;
    this.#watch.check();
    for (;;) {
      try {
        return tables.transaction(work);
      } catch (error) {
        if (!(error instanceof DamagedRowError)) throw error;
      }
    }
  }

  #failed(error: unknown): Settled {
    const { text, passing } = fileFault(this.#path, error);
    if (passing && !this.#failing) {
      this.#failing = true;
      this.#onHealth(text);
    }
    return [true, text, passing];
  }
}

type Performed = {
  readonly [Kind in Exclude<keyof WriteResults, 'scrub'>]: (
    tables: WriteTables,
    request: Extract<WriteRequest, readonly [Kind, ...unknown[]]>,
  ) => WriteResults[Kind];
};

const PERFORMED: Performed = {
  accept,
  append,
  claim,
  begin,
  renew,
  release,
  'leave-aside': leaveAside,
  'keep-leases': keepLeases,
  checkpoint: keepCheckpoint,
  cancel: requestCancel,
  create,
  delete: deleteTask,
  reserve,
  unreserve,
  remember,
  'put-push-config': putPushConfig,
  'delete-push-config': deletePushConfig,
  'rewrite-config': rewriteConfig,
  'claim-deliveries': claimDeliveries,
  'settle-delivery': settleDelivery,
  'replay-delivery': replayDelivery,
  'purge-delivery': purgeDelivery,
  'block-owner': blockOwner,
  'erase-owned': eraseOwned,
  check,
  sweep,
};

function perform(tables: WriteTables, request: WriteRequest): unknown {
  const work = PERFORMED[request[0] as keyof Performed] as (tables: WriteTables, request: WriteRequest) => unknown;
  return work(tables, request);
}

type DoneBefore = {
  readonly [Kind in keyof WriteResults]:
    | ((
        tables: WriteTables,
        request: Extract<WriteRequest, readonly [Kind, ...unknown[]]>,
      ) => WriteResults[Kind] | undefined)
    | 'may be done twice';
};

/** Return the results of requests that an earlier thread has executed; `undefined` if it has not. */
const DONE_BEFORE: DoneBefore = {
  accept: acceptedBefore,
  // An append detects its own repeats (`decideAppend`).
  append: 'may be done twice',
  claim: claimedBefore,
  begin: 'may be done twice',
  renew: 'may be done twice',
  release: 'may be done twice',
  'leave-aside': 'may be done twice',
  'keep-leases': 'may be done twice',
  checkpoint: 'may be done twice',
  cancel: 'may be done twice',
  create: createdBefore,
  delete: 'may be done twice',
  reserve: 'may be done twice',
  unreserve: 'may be done twice',
  remember: 'may be done twice',
  'put-push-config': 'may be done twice',
  'delete-push-config': 'may be done twice',
  'rewrite-config': 'may be done twice',
  'claim-deliveries': deliveriesClaimedBefore,
  'settle-delivery': 'may be done twice',
  'replay-delivery': 'may be done twice',
  'purge-delivery': 'may be done twice',
  'block-owner': 'may be done twice',
  'erase-owned': 'may be done twice',
  scrub: 'may be done twice',
  check: 'may be done twice',
  sweep: 'may be done twice',
};

function doneBefore(tables: WriteTables, request: WriteRequest): unknown {
  const recognized = DONE_BEFORE[request[0]];
  if (recognized === 'may be done twice') return undefined;
  return (recognized as (tables: WriteTables, request: WriteRequest) => unknown)(tables, request);
}

const WAITING = 'SELECT count(*) AS waiting FROM execution e JOIN task t ON t.pk = e.task WHERE t.held IS NOT e.turn';

const OLDEST = 'SELECT min(place) AS place FROM execution INDEXED BY execution_ready WHERE ready = 1';
const PENDING = `SELECT count(*) AS pending, min(due) AS due FROM push_delivery INDEXED BY push_delivery_due
  WHERE due IS NOT NULL`;

/** Writes a meaningless row, so that the check reaches the file. Returns the waiting work. */
function check({ sql }: WriteTables, [, { now }]: CheckWrite): StorageLoad {
  sql.run("INSERT OR REPLACE INTO meta VALUES ('checked', ?)", String(now));
  const counts = sql.apart('count of waiting messages', () => ({
    waiting: sql.get<{ waiting: number }>(WAITING)?.waiting ?? 0,
    place: sql.get<{ place: number | null }>(OLDEST)?.place,
    ...sql.get<{ pending: number; due: number | null }>(PENDING),
  }));
  const { waiting = 0, pending = 0, place, due } = counts ?? {};
  return { waiting, pendingDeliveries: pending, ...oldestWaits({ arrived: arrivalAt(place), due }, now) };
}
