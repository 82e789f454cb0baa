import { TaskNotFoundError } from '../../errors/spec-errors.js';
import type { Task } from '../../model/task.js';
import { isInterrupted, isTerminal } from '../../model/task-state.js';
import type { TaskKey } from '../../store/task-storage.js';
import type { LogRecord } from '../../task/log-record.js';
import { closingError } from './closing-error.js';
import { stateOf } from './record-state.js';
import { storageStalledError } from './storage-stalled-error.js';
import type { FeedListener, TaskFeeds } from './task-feeds.js';

/** How the wait for a turn ended. `task` is there where the commit wrote it out. */
export interface TurnOutcome {
  /** Whether it was the turn waited for, and not an earlier one that ended the task first. */
  readonly reached: boolean;
  readonly task: Task | undefined;
}

/**
 * Waits until a turn reaches a terminal or interrupted state, or the task ends before it began (Spec §3.2.2). Attach
 * it before the message is accepted and tell it the turn after: nothing is missed in between.
 */
export class TurnWaiter implements FeedListener {
  readonly key: TaskKey;
  readonly outcome: Promise<TurnOutcome>;
  readonly #feeds: TaskFeeds;
  readonly #resolve: (outcome: TurnOutcome) => void;
  readonly #reject: (error: Error) => void;
  #turn: number | undefined;
  #early: { records: readonly LogRecord[]; snapshot: Task | undefined }[] | undefined;

  constructor(feeds: TaskFeeds, key: TaskKey) {
    this.#feeds = feeds;
    this.key = key;
    const { promise, resolve, reject } = Promise.withResolvers<TurnOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    feeds.attach(this);
  }

  /** The turn to wait for; 0 waits for the end of the task. */
  expect(turn: number): void {
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
      const state = stateOf(record);
      if (state === undefined) continue;
      if (isTerminal(state)) return this.#settle({ reached: record.turn >= turn, task: snapshot });
      // Seen in the middle of a commit, the snapshot would already show what came after the interruption.
      if (turn > 0 && record.turn >= turn && isInterrupted(state)) {
        return this.#settle({ reached: true, task: record === records.at(-1) ? snapshot : undefined });
      }
    }
  }

  removed(): void {
    this.#fail(new TaskNotFoundError(this.key.id));
  }

  shutDown(): void {
    this.#fail(closingError());
  }

  overdue(): void {
    this.#fail(storageStalledError());
  }

  /** Stops waiting; the outcome stays open for good. */
  close(): void {
    this.#feeds.detach(this);
  }

  #fail(error: Error): void {
    // The owner may leave the outcome without a listener.
    this.outcome.catch(() => {});
    this.#reject(error);
  }

  #settle(outcome: TurnOutcome): void {
    this.close();
    this.#resolve(outcome);
  }
}
