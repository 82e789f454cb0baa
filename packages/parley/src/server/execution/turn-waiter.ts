import { TaskNotFoundError } from '../../errors/spec-errors.js';
import type { Task } from '../../model/task.js';
import { isInterrupted, isTerminal } from '../../model/task-state.js';
import type { TaskKey } from '../../store/task-key.js';
import type { TaskProgress } from '../../store/task-storage.js';
import type { LogRecord } from '../../task/log-record.js';
import { announcedState } from './agent-event.js';
import type { FeedListener } from './task-feeds.js';
import { closingError, storageStalledError } from './unavailable-errors.js';

/** The end of a wait for a turn. `task` is set if the commit contained it. */
interface TurnOutcome {
  /** True if the awaited turn ended, false if an earlier one ended the task. */
  readonly reached: boolean;
  readonly task: Task | undefined;
}

/**
 * Waits until a turn reaches a terminal or interrupted state, or the task ends before the turn began (Spec §3.2.2). It
 * must be attached before the message is accepted, and get the turn number after that, to miss no record. After
 * `detach`, the outcome never settles.
 */
export class TurnWaiter implements FeedListener {
  readonly key: TaskKey;
  readonly outcome: Promise<TurnOutcome>;
  readonly #resolve: (outcome: TurnOutcome) => void;
  readonly #reject: (error: Error) => void;
  #turn: number | undefined;
  /** True once a record has ended the wait. Its owner detaches it soon. */
  #isOver = false;
  #early: { records: readonly LogRecord[]; snapshot: Task | undefined }[] | undefined;

  /** `turn`: the number of the turn, if it is known yet. */
  constructor(key: TaskKey, turn?: number) {
    this.key = key;
    this.#turn = turn;
    const { promise, resolve, reject } = Promise.withResolvers<TurnOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Sets the number of the turn; 0 waits for the end of the task. */
  setTurn(turn: number): void {
    this.#turn = turn;
    const early = this.#early;
    this.#early = undefined;
    for (const { records, snapshot } of early ?? []) this.offer(records, snapshot);
  }

  offer(records: readonly LogRecord[], snapshot: Task | undefined): void {
    const turn = this.#turn;
    if (turn === undefined) {
      this.#early ??= [];
      this.#early.push({ records, snapshot });
      return;
    }
    for (const record of records) {
      const state = announcedState(record.event);
      const reached = state === undefined ? undefined : reaches(turn, { state, lastTurn: record.turn });
      if (reached === undefined) continue;
      // In the middle of a commit, the snapshot already contains events after the interruption.
      this.#isOver = true;
      return this.#resolve({ reached, task: record === records.at(-1) ? snapshot : undefined });
    }
  }

  get started(): boolean {
    return this.#turn !== undefined && !this.#isOver;
  }

  look(progress: TaskProgress | undefined): void {
    if (progress === undefined) return this.#fail(new TaskNotFoundError(this.key.id));
    const reached = this.#turn === undefined ? undefined : reaches(this.#turn, progress);
    if (reached !== undefined) this.#resolve({ reached, task: undefined });
  }

  shutDown(): void {
    this.#fail(closingError());
  }

  overdue(): void {
    this.#fail(storageStalledError());
  }

  #fail(error: Error): void {
    // The outcome may have no handler.
    this.outcome.catch(() => {});
    this.#reject(error);
  }
}

/**
 * Decides whether a wait for a turn is over. True: the turn was reached. False: the task ended before it. Undefined:
 * the wait continues. A message behind a turn in AUTH_REQUIRED is answered with that state, because its sender may have
 * to act first.
 */
function reaches(turn: number, { state, lastTurn }: Pick<TaskProgress, 'state' | 'lastTurn'>): boolean | undefined {
  if (isTerminal(state)) return lastTurn >= turn;
  if (turn === 0) return undefined;
  if (lastTurn > turn || (lastTurn === turn && isInterrupted(state))) return true;
  return state === 'TASK_STATE_AUTH_REQUIRED' ? true : undefined;
}
