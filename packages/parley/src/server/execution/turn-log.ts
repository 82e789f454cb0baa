import type { Message } from '../../model/message.js';
import type { TaskEvent } from '../../model/stream-response.js';
import { isTerminal, type TaskState } from '../../model/task-state.js';
import type { CancelRequest, Claim, HeldTurn } from '../../store/task-storage.js';
import { eventBytes, taskBytes } from '../../task/event-bytes.js';
import type { LogRecordExtras } from '../../task/log-record.js';
import { announcedState, statusEvent, type TaskAddress, withTimestamp } from './agent-event.js';
import { type Draft, storeDraft } from './draft.js';
import type { EngineContext } from './turn-host.js';
import { TurnOverError } from './turn-over-error.js';
import { TurnWriter } from './turn-writer.js';

/** A message with the ids of its task. */
export type AddressedMessage = Message & TaskAddress;

/** The turn that a log is of, and what it is told. */
export interface LoggedTurn extends TaskAddress {
  /** What the turn answers; enters the history with its first record. */
  readonly message: AddressedMessage;
  /** Enters the record of CANCELED. */
  readonly cancelMetadata: CancelRequest['metadata'];
  /** The task of a draft is stored; its early events are written next. */
  stored(claim: Claim): void;
  /** The storage does not take the task of a draft in. */
  overdue(): void;
  /** The task of a draft could not be stored. */
  unstored(error: unknown): void;
  /** The turn belongs to somebody else now. */
  overtaken(): void;
  /** The turn has left the storage; `waiting` executions of its task want to run. */
  gone(waiting: number): void;
}

/** Whose log, and whether its task is stored or yet to be. */
export interface TurnLogOptions {
  readonly context: EngineContext;
  readonly turn: LoggedTurn;
  readonly claim?: Claim;
  readonly draft?: Draft;
}

interface EarlyEvent {
  readonly event: TaskEvent;
  readonly bytes: number;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * How far a log has come: of a `draft` nothing is stored, while `opening` its task is being stored, `open` it has no
 * record of this turn yet, `begun` it has.
 */
export type LogPhase = 'draft' | 'opening' | 'open' | 'begun';

/**
 * The log of one turn: takes the events that the turn has accepted, and makes records of them in their order. Stores
 * the task of a draft first, and says what a turn begins with.
 */
export class TurnLog {
  readonly #context: EngineContext;
  readonly #turn: LoggedTurn;
  readonly #draft: Draft | undefined;
  /** Events of a draft, held while its task is being stored. */
  #early: EarlyEvent[] | undefined;
  #claim: Claim | undefined;
  #writer: TurnWriter | undefined;
  /** At least as many bytes as the task takes. */
  #bytes = 0;
  #begun = false;
  #begins = false;
  #finished = false;
  #abandoned = false;
  #storing: Promise<void> | undefined;

  constructor({ context, turn, claim, draft }: TurnLogOptions) {
    this.#context = context;
    this.#turn = turn;
    this.#draft = draft;
    if (claim) this.#open(claim);
  }

  get phase(): LogPhase {
    if (this.#begun) return 'begun';
    if (this.#writer) return 'open';
    return this.#early ? 'opening' : 'draft';
  }

  /** As the storage gave the turn; absent until it is there. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** The turn as the storage knows it; absent until it is there. */
  get held(): HeldTurn | undefined {
    const claim = this.#claim;
    return claim && { key: { scope: claim.scope, id: this.#turn.taskId }, turn: claim.turn, epoch: claim.epoch };
  }

  /** The state that this turn has brought its task to, committed or not; absent before its first record. */
  get state(): TaskState | undefined {
    return this.#begun ? this.#writer?.state : undefined;
  }

  /** Whether nothing more can be written. */
  get ended(): boolean {
    if (this.#writer) return this.#writer.closed || isTerminal(this.#writer.state);
    const last = this.#early?.at(-1);
    const state = last && announcedState(last.event);
    return state !== undefined && isTerminal(state);
  }

  /** Whether the storage has been told that the turn is over. */
  get leaving(): boolean {
    return this.#writer?.leaving === true;
  }

  /** Why an event of so many bytes is too much, if it is: for an agent that does not wait, or for what a task can hold. */
  excess(bytes: number): 'fast' | 'large' | undefined {
    const { overrunEvents, taskBytes } = this.#context.limits;
    if ((this.#writer?.waiting ?? this.#early?.length ?? 0) >= overrunEvents) return 'fast';
    if (this.#bytes + bytes <= taskBytes) return undefined;
    // Artifacts that were replaced count no more.
    if (this.#writer) this.#bytes = this.#writer.taskBytes;
    return this.#bytes + bytes > taskBytes ? 'large' : undefined;
  }

  /** Takes an event over. Resolves when there is room for the next one; of a draft, its task is stored first. */
  publish(event: TaskEvent, bytes = eventBytes(event)): Promise<void> {
    this.#bytes += bytes;
    if (this.#writer) return this.#write(event, bytes);
    this.bear();
    const done = Promise.withResolvers<void>();
    this.#early?.push({ event, bytes, done });
    return done.promise;
  }

  /** Stores the task of a draft, then the events that have come meanwhile, in their order. */
  bear(): void {
    if (this.#draft === undefined || this.phase !== 'draft') return;
    const early: EarlyEvent[] = [];
    this.#early = early;
    const { patience } = this.#context;
    const timer = patience.start(() => this.#turn.overdue());
    this.#storing = storeDraft(this.#context, this.#draft).then(
      (claim) => {
        patience.stop(timer);
        this.#born(claim, early);
      },
      (error: unknown) => {
        patience.stop(timer);
        this.#turn.unstored(error);
        for (const { done } of early) done.reject(new TurnOverError());
      },
    );
  }

  /** The agent is not run: its turn needs no WORKING before its end. */
  skipWorking(): void {
    this.#begins = true;
  }

  /** Begins an open log with WORKING. */
  begin(): void {
    const writer = this.#writer;
    if (!writer) return;
    const event = statusEvent(this.#turn, 'TASK_STATE_WORKING');
    const extras = this.#extras('TASK_STATE_WORKING');
    this.#begun = true;
    void writer.publish({ event: withTimestamp(event, () => writer.timestamp()), bytes: eventBytes(event), extras });
  }

  /** Resolves when all events so far are committed; rejects if the turn is overtaken first. */
  async flush(): Promise<void> {
    await this.#early?.at(-1)?.done.promise;
    if (this.#writer) await this.#writer.flush();
  }

  /** No more events will come: the turn leaves the storage with the last one, as soon as there is a turn to leave it. */
  finish(): void {
    this.#finished = true;
    this.#writer?.finish();
  }

  /** Writes nothing more. A draft whose task is being stored goes back to the storage as soon as it is there. */
  abandon(): void {
    this.#abandoned = true;
    this.#writer?.abandon();
  }

  /** Commits what there is, then gives the turn back to the storage for another process; resolves when it knows. */
  async handOver(hasRun: boolean): Promise<void> {
    await this.#storing;
    const [held, writer] = [this.held, this.#writer];
    if (!held || !writer || writer.closed) return;
    await writer.flush().catch(() => {});
    if (writer.closed) return;
    writer.abandon();
    await this.#release(hasRun);
    this.#turn.gone(0);
  }

  /** An agent that has run has used an attempt, which the hand-over gives back. */
  async #release(hasRun: boolean): Promise<void> {
    const [held, claim] = [this.held, this.#claim];
    if (!held || !claim) return;
    const { attempt, handOvers } = claim;
    const runs = hasRun ? { attempts: attempt, handOvers: handOvers + 1 } : { attempts: attempt - 1, handOvers };
    await this.#context.storage.release(held, runs);
  }

  /** The task of a draft is stored. */
  #born(claim: Claim, early: readonly EarlyEvent[]): void {
    this.#open(claim);
    if (this.#abandoned) {
      this.#writer?.abandon();
      for (const { done } of early) done.reject(new TurnOverError());
      this.#release(true).catch((error: unknown) =>
        this.#context.logger.error('a turn could not be handed over', { taskId: this.#turn.taskId, error }),
      );
      return;
    }
    this.#turn.stored(claim);
    this.#early = undefined;
    for (const { event, bytes, done } of early) this.#write(event, bytes).then(done.resolve, done.reject);
    if (this.#finished) this.#writer?.finish();
  }

  #open(claim: Claim): void {
    const { storage, feeds, clock, logger, limits, patience } = this.#context;
    this.#claim = claim;
    if (claim.seq > 1) this.#bytes += taskBytes(claim.task);
    this.#writer = new TurnWriter({
      key: { scope: claim.scope, id: this.#turn.taskId },
      turn: claim.turn,
      epoch: claim.epoch,
      task: claim.task,
      seq: claim.seq,
      storage,
      feeds,
      clock,
      logger,
      limits,
      patience,
      onOvertaken: () => this.#turn.overtaken(),
      onClosed: (waiting) => this.#turn.gone(waiting),
    });
  }

  #write(event: TaskEvent, bytes: number): Promise<void> {
    const writer = this.#writer;
    if (!writer || writer.closed) return Promise.reject(new TurnOverError());
    const state = announcedState(event);
    const begins = state === 'TASK_STATE_WORKING' || state === 'TASK_STATE_REJECTED' || this.#begins;
    if (!this.#begun && !begins) this.begin();
    const extras = this.#extras(state);
    this.#begun = true;
    return writer.publish({ event: withTimestamp(event, () => writer.timestamp()), bytes, extras });
  }

  /** The message enters the history with the turn's first record, cancel metadata with CANCELED. */
  #extras(state: TaskState | undefined): LogRecordExtras | undefined {
    const entering = !this.#begun && this.#claim && !this.#claim.began && !bornWith(this.#claim);
    const metadata = state === 'TASK_STATE_CANCELED' ? this.#turn.cancelMetadata : undefined;
    if (!entering && !metadata) return undefined;
    return { ...(entering && { history: [this.#turn.message] }), ...(metadata && { metadata }) };
  }
}

/** Whether the task was made by the message of this turn, so that its history has it already. */
function bornWith({ turn, task, message }: Claim): boolean {
  return turn === 1 && task.history?.some(({ messageId }) => messageId === message.messageId) === true;
}
