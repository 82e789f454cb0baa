import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { TaskEvent } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../../model/task-state.js';
import type { CancelRequest, Claim, HeldTurn } from '../../store/held-turn.js';
import type { Append } from '../../store/task-storage.js';
import { CHUNK_FRAME, eventBytes, taskBytes } from '../../task/event-bytes.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import { TaskBuilder } from '../../task/task-builder.js';
import type { UsageSums } from '../../task/token-usage.js';
import { type AddressedMessage, announcedState, type TaskAddress } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import { type ArtifactEvent, type ArtifactLog, OpenArtifacts } from './open-artifacts.js';
import { timestampAt } from './timestamp.js';
import type { TurnTrace } from './turn-trace.js';

/** The turn of a log. */
export interface LoggedTurn extends TaskAddress {
  /** Joins the history with the first record of the turn. */
  readonly message: AddressedMessage;
  /** Merged into the metadata of the task with CANCELED. */
  readonly cancelMetadata: CancelRequest['metadata'];
  readonly trace: Pick<TurnTrace, 'takeNote'> | undefined;
  /** The tokens of the task. Absent if none were counted. */
  readonly counted: Pick<UsageSums, 'takeMetadata'> | undefined;
}

/** Records that wait for their commit. */
interface PendingRecords {
  records: LogRecord[];
  bytes: number;
  /** True if the records contain a status: callers wait for it. */
  isUrgent: boolean;
  /** True if the records contain an interrupted or terminal state. */
  isAnswer: boolean;
}

/**
 * The log of one turn. It makes records from events, folds them into the task, and groups records into commits. It does
 * no I/O. Events of a draft are queued until there is a claim.
 */
export class TurnLog implements ArtifactLog {
  readonly taskId: string;
  readonly contextId: string;
  /** Emptied by `take`. */
  readonly pending: PendingRecords = { records: [], bytes: 0, isUrgent: false, isAnswer: false };
  readonly #context: EngineContext;
  readonly #turn: LoggedTurn;
  #claim: Claim | undefined;
  #builder: TaskBuilder | undefined;
  /** Absent before the first artifact. */
  #artifacts: OpenArtifacts | undefined;
  /** Events queued until the claim. */
  #early: { readonly event: TaskEvent; readonly bytes: number }[] = [];
  /** True if the message of the turn joins the history with the next record. */
  #isEntering = false;
  /** Sequence number of the latest record. */
  #seq = 0;
  /** Upper bound of the bytes of the task. */
  #bytes = 0;
  /** Bytes of the records since the last snapshot. */
  #bytesSinceSnapshot = 0;
  #snapshotBytes = 0;
  /** Estimated bytes of the task while only chunks are appended. Otherwise undefined until the next measurement. */
  #taskBytes: number | undefined;
  #lastTimestamp = 0;

  constructor(context: EngineContext, turn: LoggedTurn) {
    this.#context = context;
    this.#turn = turn;
    this.taskId = turn.taskId;
    this.contextId = turn.contextId;
  }

  /**
   * Starts making records, first for the queued events. Returns whether the last one is held back: then call `look` as
   * after `append`.
   */
  open(claim: Claim): boolean {
    const { task, seq, turn, message, caller, began } = claim;
    this.#claim = claim;
    this.#builder = new TaskBuilder(task);
    this.#seq = seq;
    // The history already contains the message if it created the task, or if the turn continues after a restart.
    const isFirst = turn === 1 && task.history?.[0]?.messageId === message.messageId;
    this.#isEntering = !began && !isFirst && caller.resumes === undefined;
    this.#lastTimestamp = statusTime(task.status);
    if (seq > 1) this.#snapshotBytes = taskBytes(task);
    this.#bytes = this.#snapshotBytes;
    const early = this.#early;
    this.#early = [];
    let isHeld = false;
    for (const { event, bytes } of early) isHeld = this.append(event, bytes);
    return isHeld;
  }

  /**
   * Returns why the log cannot accept an event of this size: the agent is too fast, or the task too large. Undefined if
   * it can.
   */
  excess(bytes: number): 'too fast' | 'too large' | undefined {
    const { overrunEvents, taskBytes: limit } = this.#context.limits;
    if (this.pending.records.length + this.#early.length >= overrunEvents) return 'too fast';
    if (this.#bytes + bytes <= limit) return undefined;
    // Replaced artifacts no longer count.
    if (this.#builder) this.#bytes = taskBytes(this.#builder.view()) + (this.#artifacts?.heldBytes ?? 0);
    return this.#bytes + bytes > limit ? 'too large' : undefined;
  }

  /** Appends an event. Returns whether it is held back: then call `look` every `HELD_CHUNK_LOOK_MS`. */
  append(event: TaskEvent, bytes = eventBytes(event)): boolean {
    this.#bytes += bytes;
    if (this.#builder === undefined) {
      this.#early.push({ event, bytes });
    } else if (event.artifactUpdate !== undefined) {
      this.#artifacts ??= new OpenArtifacts(this, this.#context.artifactEnd);
      return this.#artifacts.take(event, bytes);
    } else {
      this.#artifacts?.before(event);
      this.record(event, bytes);
    }
    return false;
  }

  /** Checks the held-back chunk. Returns whether it is still held back. */
  look(): boolean {
    return this.#artifacts?.look() === true;
  }

  /** Records the held-back chunk. */
  flush(): void {
    this.#artifacts?.release('flush');
  }

  /** Returns a commit of all pending records; undefined if there are none. `isLast`: it ends the turn. */
  take(isLast: boolean): Append | undefined {
    const { records, isAnswer } = this.pending;
    const claim = this.#claim;
    const builder = this.#builder;
    const first = records[0];
    if (!claim || !builder || !first) return undefined;
    this.pending.records = [];
    this.pending.bytes = 0;
    this.pending.isUrgent = false;
    this.pending.isAnswer = false;
    const { head } = builder;
    const endsTurn = isLast || isTerminal(head.status.state);
    const snapshot = this.#takeSnapshot(builder, isAnswer);
    return {
      key: { scope: claim.scope, id: this.taskId },
      authority: claim.epoch,
      after: first.seq - 1,
      records,
      head,
      ...(snapshot && { snapshot }),
      ...(endsTurn && { endsTurn: claim.turn }),
    };
  }

  has(artifactId: string): boolean {
    return this.#builder?.has(artifactId) === true;
  }

  artifact(artifactId: string): Artifact | undefined {
    return this.#builder?.artifact(artifactId);
  }

  record(event: TaskEvent, bytes: number): void {
    const state = announcedState(event);
    const { trace } = this.#turn;
    const note = trace && this.#claim && trace.takeNote(this.#claim);
    const usage = this.#turn.counted?.takeMetadata();
    const noted = note && usage ? { ...usage, ...note } : (note ?? usage);
    const hasExtras = this.#isEntering || noted !== undefined || state === 'TASK_STATE_CANCELED';
    const extras = hasExtras ? this.#extras(state, noted) : undefined;
    this.#isEntering = false;
    this.#seq += 1;
    const timed = event.artifactUpdate !== undefined ? event : this.#timed(event);
    const record = new LogRecord(this.#seq, this.#claim?.turn ?? 0, timed, extras, bytes);
    this.#builder?.apply(record);
    this.#bytesSinceSnapshot += bytes;
    if (this.#taskBytes !== undefined) this.#taskBytes = sizeAfter(event, bytes, this.#taskBytes);
    this.pending.records.push(record);
    this.pending.bytes += bytes;
    if (state === undefined) return;
    this.pending.isUrgent = true;
    if (isTerminal(state) || isInterrupted(state)) this.pending.isAnswer = true;
  }

  /**
   * Returns the additions to a record. The message joins the history with the first record of the turn. The trace of
   * the attempt joins the metadata with its first record, tokens with the next record, and metadata of a cancel with
   * CANCELED.
   */
  #extras(state: TaskState | undefined, noted: JsonObject | undefined): LogRecordExtras {
    const canceled = state === 'TASK_STATE_CANCELED' ? this.#turn.cancelMetadata : undefined;
    const metadata = noted && canceled ? { ...canceled, ...noted } : (noted ?? canceled);
    return { ...(this.#isEntering && { history: [this.#turn.message] }), ...(metadata && { metadata }) };
  }

  /**
   * Returns the event with the current time in its status, but never before the last status of the task. Only the
   * holder of the turn sets the time.
   */
  #timed(event: Exclude<TaskEvent, ArtifactEvent>): TaskEvent {
    this.#lastTimestamp = Math.max(this.#context.clock.now(), this.#lastTimestamp);
    const timestamp = timestampAt(this.#lastTimestamp);
    if (event.task !== undefined) return { task: { ...event.task, status: { ...event.task.status, timestamp } } };
    const update = event.statusUpdate;
    return { statusUpdate: { ...update, status: { ...update.status, timestamp } } };
  }

  #takeSnapshot(builder: TaskBuilder, isAnswer: boolean): Task | undefined {
    // Keeps the bytes written linear in the output of the agent: the next snapshot waits until the records since the
    // last one exceed its size.
    const isTooLong = this.#bytesSinceSnapshot > Math.max(this.#context.limits.snapshotLogBytes, this.#snapshotBytes);
    if (!isAnswer && !isTooLong) return undefined;
    const snapshot = builder.view();
    this.#bytesSinceSnapshot = 0;
    if (isTooLong) this.#snapshotBytes = this.#taskBytes ??= taskBytes(snapshot);
    return snapshot;
  }
}

/** Returns the size of a task after an event; undefined if the task must be measured. */
function sizeAfter(event: TaskEvent, bytes: number, before: number): number | undefined {
  if (event.statusUpdate !== undefined) return before;
  return event.artifactUpdate?.append ? before + bytes - CHUNK_FRAME : undefined;
}

/** Returns the turn of a claim in the form of the storage. */
export function heldTurn({ scope, task, turn, epoch }: Claim): HeldTurn {
  return { key: { scope, id: task.id }, turn, epoch };
}
