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
import type { AcceptedTurn, AppendedHead, Holder, TaskHead } from '../rules/task-head.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { ConfigEntry } from './memory-deliveries.js';
import type { MemorySpace } from './memory-space.js';
import type { PackedTasks } from './packed-tasks.js';
import { LiveTask } from './task-content.js';

/** A waiting or running turn. */
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

/** State and time of a task in the lists. */
interface ListedAt {
  readonly state: TaskState;
  readonly time: number;
}

/** One task with its log, turns and push configurations. */
export class TaskEntry implements TaskHead {
  readonly space: MemorySpace;
  readonly id: string;
  readonly contextId: string | undefined;
  readonly createdAt: number;
  endedAt: number | undefined = undefined;
  statusTime: number;
  seq = 1;
  epoch = 0;
  turns = 0;
  began = 0;
  holder: Holder | undefined = undefined;
  queue: readonly QueuedTurn[] = NONE;
  pushConfigs: Map<string, ConfigEntry> | undefined = undefined;
  /** The counted bytes of the task; 0 if it is not counted. */
  countedBytes = 0;
  state: TaskState;
  /** True if the lists do not have the latest change yet. */
  isUnsettled = false;
  listed: ListedAt | undefined = undefined;
  /** The place of the task among those with a claimable turn. */
  readyOrder: number | undefined = undefined;
  /** The place of the task among those with a running turn. */
  heldPlace: Place<TaskEntry> | undefined = undefined;
  content: LiveTask | PackedTasks<TaskEntry>;
  /** The place of a packed task. */
  place = 0;
  lately: WeakRef<Task> | undefined = undefined;

  constructor(space: MemorySpace, first: { readonly task: Task; readonly record: LogRecord; readonly now: number }) {
    const { task, record, now } = first;
    this.space = space;
    this.id = task.id;
    this.contextId = task.contextId;
    this.createdAt = now;
    this.statusTime = statusTime(task.status);
    this.content = new LiveTask(task, record);
    this.state = task.status.state;
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
    return this.content.bytes(this);
  }

  get hasEnded(): boolean {
    return this.endedAt !== undefined;
  }

  /** Returns a waiting or running turn. */
  queued(turn: number): QueuedTurn | undefined {
    return this.queue.find((queued) => queued.turn === turn);
  }

  /** The lowest sequence number still kept. */
  get floor(): number {
    return this.seq - this.content.recordCount(this) + 1;
  }

  /** The records after a sequence number, up to `maxBytes` of JSON of their events; at least one. */
  firstRecords(after: number, maxBytes: number): readonly LogRecord[] {
    const records = this.content.records(this, Math.max(0, after + 1 - this.floor));
    return firstBytes(records, maxBytes, ({ text }) => text.length);
  }

  addTurn(
    { turn, attempts, epoch, holder }: AcceptedTurn,
    content: Pick<QueuedTurn, 'order' | 'message' | 'caller'>,
  ): void {
    const { order, message, caller } = content;
    const counts = { attempts, handOvers: 0, checkpoint: undefined, cancel: undefined };
    this.turns = turn;
    this.epoch = epoch;
    this.holder = holder;
    this.queue = [...this.queue, { order, turn, message, caller, ...counts }];
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

  /** Replaces the objects of the finished task by its text. */
  pack(tasks: PackedTasks<TaskEntry>, place: number): void {
    this.content = tasks;
    this.place = place;
  }
}
