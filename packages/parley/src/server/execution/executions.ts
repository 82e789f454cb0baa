import { failureLevel } from '../../errors/storage-error.js';
import { LinkedList } from '../../runtime/linked-list.js';
import { TransientMap } from '../../runtime/transient-map.js';
import { type Claim, isSameScope, type Scope, type TaskKey } from '../../store/task-storage.js';
import { type Arrival, Arrivals } from './arrivals.js';
import { closingError } from './closing-error.js';
import type { Draft } from './draft.js';
import { Turn, type TurnOwner } from './turn.js';
import { turnFate } from './turn-fate.js';
import type { EngineContext } from './turn-host.js';

const CLAIM_BATCH = 100;
const CLAIM_RETRY_MS = 1_000;
/** The time for which a turn in its last attempt keeps the next one from beginning. */
const ALONE_MS = 30_000;

const FAILURE_TEXTS = {
  interrupted: 'The agent stopped while it worked on this task and cannot resume it.',
  exhausted: 'The agent stopped each time it worked on this task.',
} as const;

/** The turns that run in this process, and what becomes of those that nobody runs. */
export class Executions implements TurnOwner {
  readonly #context: EngineContext;
  /** By the keys of their tasks. */
  readonly #turns = new TransientMap<string, Turn>();
  readonly #drafts = new LinkedList<Turn>();
  readonly #arrivals = new Arrivals();
  #closing = false;
  #idle: (() => void) | undefined;
  #stopBeat: (() => void) | undefined;
  #beats = 0;
  /** The turns taken over that begin one after another. */
  #begins: Promise<void> = Promise.resolve();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Turns that run now. */
  get running(): number {
    return this.#turns.size + this.#drafts.size;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** The turn of a task in this process, a draft included whose task is being stored. */
  of(key: TaskKey): Turn | undefined {
    const isOfTask = ({ scope, taskId }: Turn) => taskId === key.id && isSameScope(scope, key.scope);
    return this.#turns.get(keyText(key.scope, key.id)) ?? this.#drafts.values().find(isOfTask);
  }

  /** Resolves when the calls under way that may bring a turn of this task have ended; undefined if there is none. */
  arriving(key: TaskKey): Promise<unknown> | undefined {
    return this.#arrivals.over(key);
  }

  /** Registers a call to the storage that may bring a turn, before it is made. */
  expect(key: TaskKey): Arrival {
    return this.#arrivals.begin(key);
  }

  /** Registers a turn that this process has claimed: from here on a cancel finds it. It does not run yet. */
  admit(claim: Claim): Turn {
    const turn = new Turn(this.#context, this, { claim });
    this.#turns.set(keyText(turn.scope, turn.taskId), turn);
    return turn;
  }

  /** Runs an admitted turn, unless the server closes: then the next process runs it. */
  start(turn: Turn): void {
    if (this.#closing) void this.#handOver(turn);
    else turn.run();
  }

  /**
   * Runs an agent that has yet to decide whether its answer is a task.
   * @throws A2AError while the server closes.
   */
  draft(draft: Draft): Turn {
    if (this.#closing) throw closingError();
    const turn = new Turn(this.#context, this, { draft });
    turn.place = this.#drafts.add(turn);
    turn.run();
    return turn;
  }

  opened(turn: Turn): void {
    // One that has ended meanwhile is in neither list.
    if (turn.place === undefined) return;
    this.#dropDraft(turn);
    this.#turns.set(keyText(turn.scope, turn.taskId), turn);
  }

  ended(turn: Turn, waiting: number): void {
    this.#dropDraft(turn);
    const key = keyText(turn.scope, turn.taskId);
    if (this.#turns.get(key) === turn) this.#turns.delete(key);
    if (waiting > 0 && !this.#closing) void this.#claimNext(turn);
    if (this.running === 0) this.#idle?.();
  }

  /**
   * Takes over the turns that no process runs, now and, if other processes share the storage, from time to time.
   * Resolves when the tasks that end with that have ended, so that no caller sees them at work. Waits for a storage
   * that stalls as long as for an agent; the rest then happens while calls are answered.
   * @throws StorageError if the storage fails before that: no agent can be served yet.
   */
  async recover(): Promise<void> {
    const takenOver = this.#takeOverAll();
    let isLate = false;
    takenOver.catch((error: unknown) => {
      if (isLate) this.#recoverLater(error);
    });
    await this.#withPatience(takenOver);
    isLate = true;
    if (this.#context.storage.shared && !this.#closing) this.#beat();
  }

  async #takeOverAll(): Promise<void> {
    await Promise.all(await this.#claimAll());
  }

  #recoverLater(error: unknown): void {
    const { logger, clock } = this.#context;
    logger[failureLevel(error)]('claiming turns failed, trying again', { error });
    clock.after(CLAIM_RETRY_MS, () => {
      if (this.#closing) return;
      this.#takeOverAll().catch((again: unknown) => this.#recoverLater(again));
    });
  }

  /**
   * Lets running turns finish for a while, then hands the rest over; no agent starts. Ends whatever the storage does.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#stopBeat?.();
    if (this.running > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#context.clock.after(graceMs, resolve);
        this.#idle = () => {
          stopTimer();
          resolve();
        };
      });
    }
    await this.#withPatience(this.#handOverAll());
    for (const turn of this.#all()) this.#giveUp(turn);
    this.#context.feeds.shutDown();
  }

  /** The storage is asked for turns until the last moment: what still arrives is handed over as well. */
  async #handOverAll(): Promise<void> {
    for (;;) {
      const turns = this.#all();
      const arriving = this.#arrivals.over();
      if (turns.length === 0 && arriving === undefined) return;
      await Promise.all([arriving, ...turns.map((turn) => this.#handOver(turn))]);
    }
  }

  #all(): readonly Turn[] {
    return [...this.#turns.values(), ...this.#drafts.values()];
  }

  async #handOver(turn: Turn): Promise<void> {
    try {
      await turn.handOver();
    } catch (error) {
      this.#giveUp(turn, error);
    }
  }

  /** The storage still takes the turn for ours: the next process finds it when the storage does no longer. */
  #giveUp(turn: Turn, error?: unknown): void {
    this.#context.logger.error('a turn could not be handed over', { taskId: turn.taskId, error });
    turn.overtaken();
  }

  /** Waits for the storage, but not longer than for an agent. */
  async #withPatience(work: Promise<unknown>): Promise<void> {
    const { clock, limits } = this.#context;
    let stopTimer = () => {};
    const patience = new Promise<void>((resolve) => {
      stopTimer = clock.after(limits.cancelGraceMs, resolve);
    });
    try {
      await Promise.race([work, patience]);
    } finally {
      stopTimer();
    }
  }

  #dropDraft(turn: Turn): void {
    if (turn.place !== undefined) this.#drafts.remove(turn.place);
    turn.place = undefined;
  }

  async #claimAll(): Promise<(Promise<void> | undefined)[]> {
    const ends: (Promise<void> | undefined)[] = [];
    while (!this.#closing) {
      const claims = await this.#claim(CLAIM_BATCH);
      ends.push(...claims);
      if (claims.length < CLAIM_BATCH) break;
    }
    return ends;
  }

  async #claimNext(turn: Turn): Promise<void> {
    try {
      await this.#claim(1, { scope: turn.scope, id: turn.taskId });
    } catch (error) {
      const { logger, clock } = this.#context;
      const level = failureLevel(error);
      logger[level]('claiming the next turn failed, trying again', { taskId: turn.taskId, error });
      clock.after(CLAIM_RETRY_MS, () => {
        if (!this.#closing) void this.#claimNext(turn);
      });
    }
  }

  /** Claims turns that no process runs, and takes each of them over. */
  async #claim(limit: number, task?: TaskKey): Promise<(Promise<void> | undefined)[]> {
    const { storage, lease, agent, logger } = this.#context;
    const arrival = this.#arrivals.begin(task);
    try {
      const claims = await storage.claim({ ...lease, agents: [agent], limit, ...(task && { task }) });
      return claims.map((claim) => {
        try {
          return this.#takeOver(claim, task !== undefined);
        } catch (error) {
          // It stays claimed, so that it is not met again and again; the next process tries again.
          logger.error('a claimed turn cannot be taken over', { turn: claim.turn, error });
          return undefined;
        }
      });
    } finally {
      arrival.end();
    }
  }

  /**
   * Does with a claimed turn what is to be done. The promise is there for a turn that does not run: its end is
   * committed then.
   */
  #takeOver(claim: Claim, atOnce: boolean): Promise<void> | undefined {
    const turn = this.admit(claim);
    const { executor, limits } = this.#context;
    const fate = turnFate(claim, { resumable: executor.resumable === true, maxAttempts: limits.maxAttempts });
    switch (fate) {
      case 'run':
        // The next turn begins only after this one has: what ends the process is blamed on as few turns as possible.
        if (atOnce) void turn.begin();
        else this.#begins = this.#begins.then(() => turn.begin());
        return undefined;
      case 'run-alone':
        this.#beginAlone(turn);
        return undefined;
      case 'cancel':
        turn.conclude('TASK_STATE_CANCELED');
        break;
      case 'wait':
        turn.leave();
        break;
      case 'interrupted':
      case 'exhausted':
        turn.conclude('TASK_STATE_FAILED', FAILURE_TEXTS[fate]);
        break;
    }
    return turn.left;
  }

  /**
   * Begins a turn in its last attempt when no other such turn runs, or when the one before has run for a while. Several
   * turns may have lost their attempts to one that ends the process: only that one fails.
   */
  #beginAlone(turn: Turn): void {
    const { left } = turn;
    this.#context.lastAttempts.enter((leave) => {
      const stopTimer = this.#context.clock.after(ALONE_MS, leave);
      void left.then(() => {
        stopTimer();
        leave();
      });
      void turn.begin();
    });
  }

  /** Keeps the leases of the turns that run here, and looks for those whose owner is gone. */
  #beat(): void {
    const { clock, limits, logger } = this.#context;
    this.#stopBeat = clock.after(limits.heartbeatMs, () => {
      this.#renew()
        .then(async () => {
          if (++this.#beats % 3 === 0) await this.#claimAll();
        })
        .catch((error: unknown) => logger[failureLevel(error)]('heartbeat failed', { error }))
        .finally(() => {
          if (!this.#closing) this.#beat();
        });
    });
  }

  async #renew(): Promise<void> {
    const turns = this.#turns.values().flatMap((turn) => (turn.held ? [{ turn, held: turn.held }] : []));
    if (turns.length === 0) return;
    const { storage, lease } = this.#context;
    const renewals = await storage.renew({ ...lease, turns: turns.map(({ held }) => held) });
    for (const [index, { turn }] of turns.entries()) {
      const renewal = renewals[index];
      // A turn that has ended meanwhile is not overtaken.
      if (!renewal || this.#turns.get(keyText(turn.scope, turn.taskId)) !== turn) continue;
      if (!renewal.held) turn.lost();
      else if (renewal.cancel) turn.cancel(renewal.cancel);
    }
  }
}

/** A text for each task of an agent. The owner comes with its length, so that no two tasks have the same. */
function keyText({ tenant, owner }: Scope, id: string): string {
  const user = owner === null ? '-' : `${owner.length} ${owner}`;
  return tenant === '' ? `${user} ${id}` : `${user}/${tenant.length} ${tenant} ${id}`;
}
