import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { TaskPushNotificationConfig } from '../../model/push-notification-config.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import type { Place } from '../../runtime/linked-list.js';
import type { LogRecord } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import type { Append, CallerContext, CancelRequest, Lease, StoredTask } from '../task-storage.js';
import type { MemorySpace } from './memory-space.js';
import { LiveTask, type PackedTask } from './task-content.js';

/** A turn that waits or runs. */
export interface Execution {
  /** Grows from one execution of the storage to the next. */
  readonly order: number;
  readonly turn: number;
  readonly message: Message;
  readonly caller: CallerContext;
  attempts: number;
  handOvers: number;
  began: boolean;
  checkpoint: JsonValue | undefined;
  cancel: CancelRequest | undefined;
  /** The node that runs it, and until when its lease lasts. */
  node: string | undefined;
  leaseEnd: number;
}

const NONE: readonly Execution[] = [];

/** One task with all that hangs on it. */
export class TaskEntry {
  readonly space: MemorySpace;
  readonly id: string;
  readonly contextId: string | undefined;
  readonly createdAt: number;
  seq = 1;
  epoch = 0;
  turns = 0;
  content: LiveTask | PackedTask;
  /** In order of their turns; only the first one can be held. */
  executions: readonly Execution[] = NONE;
  pushConfigs: Map<string, TaskPushNotificationConfig> | undefined = undefined;
  endedAt: number | undefined = undefined;
  /** Its places among the finished tasks, and among those with a log. */
  endedPlace: Place<TaskEntry> | undefined = undefined;
  tailPlace: Place<TaskEntry> | undefined = undefined;
  /** The bytes under which the storage counts it; 0 while it does not. */
  countedBytes = 0;
  state: TaskState;
  statusTime: number;
  /** The lists have yet to take note of a change. */
  isUnsettled = false;
  /** State and time under which the lists have it. */
  listedState: TaskState | undefined = undefined;
  listedTime = 0;
  /** Its place among the tasks that wait to be claimed. */
  readyOrder: number | undefined = undefined;
  /** Its place among the tasks that somebody runs. */
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

  /** The execution that a node holds, whether or not its lease has ended. */
  get held(): Execution | undefined {
    const first = this.executions[0];
    return first?.node === undefined ? undefined : first;
  }

  /** Executions that nobody runs. */
  get waiting(): number {
    return this.executions.length - (this.held === undefined ? 0 : 1);
  }

  /** The lowest sequence number still kept. */
  get floor(): number {
    return this.seq - this.content.recordCount + 1;
  }

  isRunning(now: number): boolean {
    const { held } = this;
    return held !== undefined && held.leaseEnd > now;
  }

  addExecution(execution: Execution): void {
    this.executions = this.executions.length === 0 ? [execution] : [...this.executions, execution];
  }

  dropExecution(turn: number): void {
    const rest = this.executions.filter((execution) => execution.turn !== turn);
    this.executions = rest.length === 0 ? NONE : rest;
  }

  dropExecutions(): void {
    this.executions = NONE;
  }

  /** Gives the first execution to a node; whoever had it before is overtaken. */
  hold(lease: Lease, now: number): Execution {
    const [execution] = this.executions;
    if (execution === undefined) throw new TypeError('A task without an execution cannot be held');
    this.epoch += 1;
    execution.node = lease.node;
    execution.leaseEnd = now + lease.leaseMs;
    return execution;
  }

  /** Lets the held execution wait again; whoever had it is overtaken. */
  overtake(): void {
    const { held } = this;
    if (held !== undefined) held.node = undefined;
    this.epoch += 1;
  }

  append({ records, head, snapshot }: Append): void {
    if (this.content instanceof LiveTask) this.content.append(records, head, snapshot);
    this.seq += records.length;
  }

  /** The task has ended: nothing of it changes any more. */
  end(now: number): void {
    this.endedAt = now;
    if (this.content instanceof LiveTask) this.content = this.content.pack();
  }

  stored(task: Task, now: number): StoredTask {
    const { epoch, seq, createdAt } = this;
    return { scope: this.space.scope, task, seq, epoch, running: this.isRunning(now), createdAt };
  }
}
