import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import { type CancelRequest, type Lease, mergeCancels } from '../held-turn.js';
import type { AcceptedTurn, AppendedHead, Holder } from '../rules/task-head.js';
import type { TaskKey } from '../task-key.js';
import type { Acceptance, Append } from '../task-storage.js';
import type { ConfigCount, MessageTables } from './accept-message.js';
import type { RecordTables } from './append-records.js';
import type { TurnTables } from './held-turns.js';
import type { HeadChange, QuestionRows, SharedHead, SharedKey } from './shared-tables.js';

/** The head of a task before its first message. */
const NEW: SharedHead = {
  version: 0,
  state: 'TASK_STATE_SUBMITTED',
  contextId: undefined,
  hasEnded: false,
  seq: 1,
  epoch: 0,
  turns: 0,
  began: 0,
  queue: [],
  holder: undefined,
};

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Tables for the engine over rows that were read from a database. They record the writes of the engine as one change.
 */
export class RecordedChange<Head extends SharedHead>
  implements
    MessageTables<Head, SharedKey, Acceptance>,
    RecordTables<Head, Append>,
    TurnTables<Head, CancelRequest, JsonValue>
{
  readonly #task: TaskKey;
  readonly #rows: QuestionRows<Head>;
  readonly #leaseMs: number;
  #change: Mutable<HeadChange<Head>> | undefined;

  /** `leaseMs`: the duration of a lease that the call may grant. */
  constructor(task: TaskKey, rows: QuestionRows<Head>, { leaseMs }: Pick<Lease, 'leaseMs'>) {
    this.#task = task;
    this.#rows = rows;
    this.#leaseMs = leaseMs;
  }

  /** The recorded change. Undefined if the engine wrote nothing. */
  get change(): HeadChange<Head> | undefined {
    return this.#change;
  }

  sameTurn(): number | undefined {
    return this.#rows.sameTurn?.turn;
  }

  key(): SharedKey | undefined {
    return this.#rows.key;
  }

  countConfigs(): ConfigCount {
    return this.#rows.configs ?? { count: 0, isKnown: false };
  }

  create(call: Acceptance, turn: AcceptedTurn): Head {
    const { task } = call;
    if (!('create' in task)) throw new StorageError('A message without a new task begins none');
    // The task does not exist yet: the engine reads the values that its first record will have.
    const head = NEW as Head;
    const change = this.#begin(head);
    change.before = undefined;
    change.create = { task: task.create, isContextNew: task.isContextNew === true };
    this.#add(change, turn, call);
    return head;
  }

  addTurn(head: Head, turn: AcceptedTurn, call: Acceptance): void {
    this.#add(this.#begin(head), turn, call);
  }

  putConfig(
    head: Head,
    { pushConfig }: Pick<Acceptance, 'pushConfig'>,
    { position }: { readonly position: number },
  ): void {
    if (pushConfig === undefined) return;
    const { id } = this.#task;
    this.#begin(head).config = { config: { ...pushConfig, id: pushConfig.id ?? id, taskId: id }, position };
  }

  putKey(call: Acceptance, { turn, before }: { readonly turn: number; readonly before: SharedKey | undefined }): void {
    if (call.idempotency === undefined || this.#change === undefined) return;
    this.#change.key = { key: call.idempotency, turn, before };
  }

  endsWith(): boolean {
    return this.#rows.isInLog === true;
  }

  append(head: Head, appended: AppendedHead, append: Append): boolean {
    const change = this.#begin(head);
    const { seq, epoch, began, holder, drops, writer } = appended;
    change.append = append;
    change.seq = seq;
    change.epoch = epoch;
    change.began = began;
    if (holder !== head.holder) change.lease = null;
    if (drops !== undefined) this.#drop(change, drops);
    const { checkpoint } = append;
    if (writer !== undefined && checkpoint !== undefined) change.checkpoint = { turn: writer, value: checkpoint };
    return false;
  }

  hold(head: Head, { epoch, holder }: { readonly epoch: number; readonly holder: Holder | undefined }): void {
    const change = this.#begin(head);
    change.epoch = epoch;
    change.lease = holder === undefined ? null : { turn: holder.turn, node: holder.node, leaseMs: this.#leaseMs };
  }

  drop(head: Head, turn: number): void {
    this.#drop(this.#begin(head), turn);
  }

  count(head: Head, turn: number, counts: { readonly attempts: number; readonly addedHandOvers: 0 | 1 }): void {
    this.#begin(head).counts = { turn, ...counts };
  }

  saveCheckpoint(head: Head, turn: number, value: JsonValue): void {
    this.#begin(head).checkpoint = { turn, value };
  }

  cancelOf(): CancelRequest | undefined {
    return this.#rows.cancel;
  }

  cancel(head: Head, turn: number, request: CancelRequest): void {
    const earlier = this.#rows.cancel;
    this.#begin(head).cancel = { turn, request: mergeCancels(earlier, request), isFirst: earlier === undefined };
  }

  #add(change: Mutable<HeadChange<Head>>, { turn, attempts, epoch, holder }: AcceptedTurn, call: Acceptance): void {
    const { message, caller } = call;
    change.turns = turn;
    change.epoch = epoch;
    change.queue = [...change.queue, { turn }];
    change.adds = { turn, attempts, message, caller };
    change.isNewData = true;
    if (attempts === 1 && holder !== undefined) {
      change.lease = { turn: holder.turn, node: holder.node, leaseMs: this.#leaseMs };
    }
  }

  #drop(change: Mutable<HeadChange<Head>>, drops: number | 'all'): void {
    change.drops = drops;
    change.queue = drops === 'all' ? [] : change.queue.filter(({ turn }) => turn !== drops);
  }

  #begin(head: Head): Mutable<HeadChange<Head>> {
    const { seq, epoch, turns, began, queue } = head;
    this.#change ??= { task: this.#task, before: head, seq, epoch, turns, began, queue, isNewData: false };
    return this.#change;
  }
}
