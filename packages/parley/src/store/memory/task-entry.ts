import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import type { Place } from '../../runtime/linked-list.js';
import type { LogRecord } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import type { CallerContext } from '../caller-context.js';
import type { WrittenAppend } from '../engine/append-records.js';
import { firstBytes } from '../engine/pages.js';
import type { CancelRequest } from '../held-turn.js';
import type { AppendedHead, Holder, TaskHead } from '../rules/task-head.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { ConfigEntry } from './memory-deliveries.js';
import type { MemorySpace } from './memory-space.js';
import { LiveTask, type PackedTask } from './task-content.js';

/** A turn that waits or runs. */
export interface QueuedTurn {
  /** See `nextPlace`. */
  readonly order: number;
  readonly turn: number;
  readonly message: Message;
  readonly caller: CallerContext;
  attempts: number;
  handOvers: number;
  checkpoint: JsonValue | undefined;
  cancel: CancelRequest | undefined;
}

const NONE: readonly QueuedTurn[] = [];

/** One task with all that hangs on it. */
export class TaskEntry implements TaskHead {
  readonly space: MemorySpace;
  readonly id: string;
  readonly contextId: string | undefined;
  readonly createdAt: number;
  seq = 1;
  epoch = 0;
  turns = 0;
  began = 0;
  holder: Holder | undefined = undefined;
  content: LiveTask | PackedTask;
  queue: readonly QueuedTurn[] = NONE;
  pushConfigs: Map<string, ConfigEntry> | undefined = undefined;
  endedAt: number | undefined = undefined;
  /** Its places among the finished tasks, and among those with a log; -1 while it has none. */
  endedPlace = -1;
  logPlace = -1;
  /** The bytes under which the storage counts it; 0 while it does not. */
  countedBytes = 0;
  state: TaskState;
  statusTime: number;
  /** The lists have yet to take note of a change. */
  isUnsettled = false;
  /**
   * State and time under which the lists have it. The first value is no small integer, and neither is a time. V8 would
   * copy every entry in order to store another kind of number.
   */
  listedState: TaskState | undefined = undefined;
  listedTime = Number.NEGATIVE_INFINITY;
  /** Its place among the tasks that wait to be claimed. */
  readyOrder: number | undefined = undefined;
  /** Its place among the tasks with a running turn. */
  heldPlace: Place<TaskEntry> | undefined = undefined;

  constructor(space: MemorySpace, first: { readonly task: Task; readonly record: LogRecord; readonly now: number }) {
    const { task, record, now } = first;
    this.space = space;
    this.id = task.id;
    this.contextId = task.contextId;
    this.createdAt = now;
    this.content = new LiveTask(task, record);
    this.state = task.status.state;
    this.statusTime = statusTime(task.status);
  }

  get scope(): Scope {
    return this.space.scope;
  }

  get head(): this {
    return this;
  }

  get key(): TaskKey {
    return this;
  }

  get bytes(): number {
    return this.content.bytes;
  }

  get hasEnded(): boolean {
    return this.endedAt !== undefined;
  }

  /** The turn that a node holds, also after the end of its lease. */
  get held(): QueuedTurn | undefined {
    return this.holder === undefined ? undefined : this.queue[0];
  }

  /** A turn that waits or runs. */
  queued(turn: number): QueuedTurn | undefined {
    return this.queue.find((queued) => queued.turn === turn);
  }

  /** The lowest sequence number still kept. */
  get floor(): number {
    return this.seq - this.content.recordCount + 1;
  }

  /** The records after a sequence number, until their events have so much JSON; at least one. */
  firstRecords(after: number, maxBytes: number): readonly LogRecord[] {
    return firstBytes(this.content.records(Math.max(0, after + 1 - this.floor)), maxBytes, ({ text }) => text.length);
  }

  addTurn(turn: QueuedTurn): void {
    this.turns = turn.turn;
    this.queue = this.queue.length === 0 ? [turn] : [...this.queue, turn];
  }

  /** Removes a turn, or all of them. */
  dropTurns(dropped: number | 'all'): void {
    const rest = dropped === 'all' ? NONE : this.queue.filter(({ turn }) => turn !== dropped);
    this.queue = rest.length === 0 ? NONE : rest;
  }

  append({ records, head, snapshot }: WrittenAppend, { seq, epoch, began, holder, drops }: AppendedHead): void {
    if (this.content instanceof LiveTask) this.content.append(records, head, snapshot);
    this.seq = seq;
    this.epoch = epoch;
    this.began = began;
    this.holder = holder;
    if (drops !== undefined) this.dropTurns(drops);
  }

  /** Keeps the task, which has ended, as text. */
  pack(): void {
    if (this.content instanceof LiveTask) this.content = this.content.pack();
  }
}
