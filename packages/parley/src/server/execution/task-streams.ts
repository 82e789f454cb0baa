import { TaskNotFoundError, UnsupportedOperationError } from '../../errors/spec-errors.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import { isInterrupted, isTerminal } from '../../model/task-state.js';
import type { Scope, TaskKey } from '../../store/task-key.js';
import type { StoredTask } from '../../store/task-storage.js';
import { LogRecord } from '../../task/log-record.js';
import type { ItemSource, StreamItem } from '../../task/stream-item.js';
import { TaskBuilder } from '../../task/task-builder.js';
import { trimTask } from '../../task/trim-task.js';
import { announcedState } from './agent-event.js';
import type { EngineContext } from './engine-context.js';
import { FeedReader, SNAPSHOT_TURN } from './feed-reader.js';
import type { MessageIntake, ReceivedMessage, Submission } from './message-intake.js';
import { closingError } from './unavailable-errors.js';

/** Time limit for the first record of a turn, in ms. After it, the task is sent without that record. */
const BEGIN_LIMIT_MS = 1_000;

/** An accepted turn that can be started. */
type Begun = Pick<Extract<Submission, { readonly kind: 'turn' }>, 'start'>;

/** A stream of events, as an iterator. */
type EventStream = AsyncIterator<StreamItem, undefined>;

/** Opens streams: of a message until its turn ends, of a subscription until its task ends (Spec §3.1.2). */
export class TaskStreams {
  readonly #context: EngineContext;
  readonly #intake: MessageIntake;

  constructor(context: EngineContext, intake: MessageIntake) {
    this.#context = context;
    this.#intake = intake;
  }

  /** Attaches before the message is accepted, so that no record is missed. */
  async ofMessage(received: ReceivedMessage, historyLength: number | undefined): Promise<EventStream> {
    const { scope, taskId } = received;
    const end = new TurnEnd(received.message);
    const reader = new FeedReader(this.#context, { key: { scope, id: taskId }, endsAfter: end.after });
    try {
      const submission = await this.#intake.submit(received);
      if (submission.kind === 'turn') {
        end.turn = submission.turn;
        const { task, seq } = submission.claim ?? (await this.#stored(scope, taskId));
        reader.begin(seq, { event: { task: trimTask(task, { historyLength }) }, seq });
        submission.start?.();
        if (!submission.claim) this.#lookIfShared(reader);
        if (!isInterrupted(task.status.state)) return reader;
        return new ResumedStream(reader, (record) => {
          const begun = unsaid(TaskBuilder.fold(task, [record]));
          return { event: { task: trimTask(begun, { historyLength }) }, seq };
        });
      }
      await reader.return();
      if (submission.kind === 'reply') return oneItem({ event: { message: submission.message } });
      return this.ofTurn(scope, { ...submission, message: received.message });
    } catch (error) {
      await reader.return();
      throw error;
    }
  }

  /**
   * Starts a turn, and returns the task for the immediate answer. If the task was waiting for the message, the
   * answer includes the first record of the turn. Otherwise some clients take the old question for the answer.
   */
  async begunTask(key: TaskKey, stands: Pick<StoredTask, 'task' | 'seq'>, { start }: Begun): Promise<Task> {
    if (!isInterrupted(stands.task.status.state)) {
      start?.();
      return stands.task;
    }
    const { clock } = this.#context;
    const reader = new FeedReader(this.#context, { key, endsAfter: () => false }).begin(stands.seq);
    const stopTimer = clock.after(BEGIN_LIMIT_MS, () => void reader.return());
    try {
      start?.();
      this.#lookIfShared(reader);
      const { value } = await reader.next();
      return value instanceof LogRecord ? TaskBuilder.fold(stands.task, [value]) : stands.task;
    } finally {
      stopTimer();
      await reader.return();
    }
  }

  /** Returns the events of one turn, from its first record. For a repeat of its message. */
  async ofTurn(scope: Scope, { taskId, turn, message }: StartedTurn): Promise<EventStream> {
    const end = new TurnEnd(message);
    end.turn = turn;
    await this.#stored(scope, taskId);
    // The records of earlier turns come first. The client folds them like any others.
    const key = { scope, id: taskId };
    return new FeedReader(this.#context, { key, endsAfter: end.after }).begin(0).replay();
  }

  /**
   * Returns the task at the end of a turn, or in the interrupted state that it reached: the answer to a blocking
   * repeat.
   */
  async outcomeOf(scope: Scope, { taskId, turn, message }: StartedTurn): Promise<Task> {
    const end = new TurnEnd(message);
    end.turn = turn;
    const { task } = await this.#stored(scope, taskId);
    let builder = new TaskBuilder(task);
    let seq = 0;
    let isOver = false;
    const endsAfter = (record: LogRecord) => {
      if (record.seq <= seq) return false;
      seq = record.seq;
      if (record.turn === SNAPSHOT_TURN && record.event.task !== undefined)
        builder = new TaskBuilder(record.event.task);
      else builder.apply(record);
      const answers = end.answersAfter(record);
      isOver = answers === true;
      return answers;
    };
    const stream = new FeedReader(this.#context, { key: { scope, id: taskId }, isPatient: false, endsAfter })
      .begin(0)
      .replay();
    while ((await stream.next()).done !== true);
    // A server that shuts down ends its readers early.
    if (!isOver) throw closingError();
    return builder.view();
  }

  /** Returns the stream of a subscription, resumed after Last-Event-ID (Spec §3.1.6). */
  async ofTask(scope: Scope, taskId: string, lastEventId: string | undefined): Promise<EventStream> {
    const reader = new FeedReader(this.#context, {
      key: { scope, id: taskId },
      endsAfter: (record) => {
        const state = announcedState(record.event);
        return state !== undefined && isTerminal(state);
      },
    });
    try {
      const stored = await this.#stored(scope, taskId);
      const stream = await this.#started(reader, stored, lastEventId);
      this.#lookIfShared(reader);
      return stream;
    } catch (error) {
      await reader.return();
      throw error;
    }
  }

  async #started(reader: FeedReader, stored: StoredTask, lastEventId: string | undefined): Promise<EventStream> {
    const { task, seq, scope } = stored;
    const ended = isTerminal(task.status.state);
    const seen = lastEventId === undefined ? undefined : sequenceOf(lastEventId);
    if (ended && (lastEventId === undefined || seen === seq)) {
      throw new UnsupportedOperationError('the task has ended', { metadata: { taskId: task.id } });
    }
    if (seen !== undefined && seen <= seq && (await this.#reaches(scope, task.id, seen, seq))) {
      return seen === seq ? reader.begin(seq) : reader.begin(seen).replay();
    }
    const snapshot = { event: { task }, seq };
    const started = reader.begin(seq, lastEventId === undefined ? snapshot : { ...snapshot, reset: true });
    return ended ? started.finish() : started;
  }

  /** True if the log still has all records after a sequence number. */
  async #reaches(scope: Scope, taskId: string, seen: number, last: number): Promise<boolean> {
    if (seen === last) return true;
    const { floor } = await this.#context.storage.records({ scope, id: taskId }, seen, 1);
    return floor <= seen + 1;
  }

  /** Polls the task, because another process may have written since the read of the first snapshot. */
  #lookIfShared({ key }: FeedReader): void {
    if (this.#context.storage.shared) this.#context.node.look(key);
  }

  async #stored(scope: Scope, taskId: string): Promise<StoredTask> {
    const stored = await this.#context.storage.task(scope, taskId);
    if (!stored) throw new TaskNotFoundError(taskId);
    return stored;
  }
}

/**
 * The stream of a message to a task that was waiting for it. It begins with the task after the first record of the
 * turn, without a status message. Some clients take a question there for the answer to the message.
 */
class ResumedStream implements ItemSource {
  readonly #reader: FeedReader;
  readonly #first: (record: LogRecord) => StreamItem;
  #hasBegun = false;
  /** The event after the first task, while that task is being sent. */
  #next: IteratorResult<StreamItem, undefined> | undefined;

  constructor(reader: FeedReader, first: (record: LogRecord) => StreamItem) {
    this.#reader = reader;
    this.#first = first;
  }

  async next(): Promise<IteratorResult<StreamItem, undefined>> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const waiting = await this.#reader.next();
      if (waiting.done === true) return waiting;
      this.#next = await this.#reader.next();
      const { value } = this.#next;
      // The log may begin with a snapshot. A turn that waited for authorization may continue with chunks that would
      // then be sent twice.
      const isStatus = value instanceof LogRecord && value.event.statusUpdate !== undefined;
      return isStatus ? { done: false, value: this.#first(value) } : waiting;
    }
    const next = this.#next;
    this.#next = undefined;
    return next ?? this.#reader.next();
  }

  ready(): StreamItem | undefined {
    return this.#hasBegun && this.#next === undefined ? this.#reader.ready() : undefined;
  }

  return(): Promise<IteratorResult<StreamItem, undefined>> {
    return this.#reader.return();
  }
}

/** Returns the task without its status message, which comes with the next event. */
function unsaid(task: Task): Task {
  const { message: _, ...status } = task.status;
  return { ...task, status };
}

/** A turn, and the message that started it. */
interface StartedTurn {
  readonly taskId: string;
  readonly turn: number;
  readonly message: Message;
}

/** Finds the end of the stream of a message: the end of its turn, not of an earlier one. */
class TurnEnd {
  turn = 0;
  readonly #message: Message;
  /** True if a record of the turn was seen. */
  #begun = false;

  constructor(message: Message) {
    this.#message = message;
  }

  readonly after = (record: LogRecord): boolean | Error => {
    this.#begun ||= record.turn >= this.turn;
    const state = announcedState(record.event);
    if (state === undefined) return false;
    // A waiting task can be ended from outside, without a turn.
    if (isTerminal(state)) {
      return this.#begun || new UnsupportedOperationError('the task ended before the message was processed');
    }
    return state === 'TASK_STATE_INPUT_REQUIRED' && this.#reached(record);
  };

  /**
   * Decides whether a wait for a blocking answer is over. It also ends at AUTH_REQUIRED, and with the turn (Spec
   * §3.2.2).
   */
  answersAfter(record: LogRecord): boolean | Error {
    if (record.turn === SNAPSHOT_TURN && this.#sentSince(record) > 0) {
      return new UnsupportedOperationError('What the message led to is no longer kept: the task has gone on since');
    }
    return this.after(record) || (announcedState(record.event) === 'TASK_STATE_AUTH_REQUIRED' && this.#reached(record));
  }

  /** True if the turn has begun. A snapshot has no turn number, but its history contains the message. */
  #reached(record: LogRecord): boolean {
    return record.turn === SNAPSHOT_TURN ? this.#sentSince(record) >= 0 : record.turn >= this.turn;
  }

  /**
   * Returns the number of messages from callers after the message of the turn; -1 if the task does not have that
   * message yet.
   */
  #sentSince({ event }: LogRecord): number {
    const history = event.task !== undefined ? (event.task.history ?? []) : [];
    const sent = history.filter(({ role }) => role === 'ROLE_USER').map(({ messageId }) => messageId);
    const own = sent.indexOf(this.#message.messageId);
    return own < 0 ? -1 : sent.length - 1 - own;
  }
}

/** Returns the sequence number in an event id; `undefined` for any other text. */
function sequenceOf(id: string): number | undefined {
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

async function* oneItem(item: StreamItem): AsyncGenerator<StreamItem, undefined> {
  yield item;
}
