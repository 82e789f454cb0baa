import { failureLevel } from '../../errors/storage-error.js';
import { isInterrupted } from '../../model/task-state.js';
import { LinkedList } from '../../runtime/linked-list.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { Claim } from '../../store/storage.js';
import type { Draft } from './draft.js';
import { Turn, type TurnOwner } from './turn.js';
import type { Surroundings } from './turn-host.js';

const CLAIM_BATCH = 100;

const SAYS = {
  interrupted: 'The agent stopped while it worked on this task and cannot resume it.',
  exhausted: 'The agent stopped each time it worked on this task.',
} as const;

/** The turns that run in this process, and what becomes of those that nobody runs. */
export class Executions implements TurnOwner {
  readonly #around: Surroundings;
  /** By the ids of their tasks. */
  readonly #turns = new TransientMap<string, Turn>();
  readonly #drafts = new LinkedList<Turn>();
  #closing = false;
  #idle: (() => void) | undefined;
  #stopBeat: (() => void) | undefined;
  #beats = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Turns that run now. */
  get running(): number {
    return this.#turns.size + this.#drafts.size;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** The turn of a task that runs in this process. */
  of(taskId: string): Turn | undefined {
    return this.#turns.get(taskId);
  }

  /**
   * Runs a claimed turn; or ends its task where running it again is not possible, or leaves it waiting where it had asked.
   * The promise is there for a turn that is not run: it resolves when its end is committed.
   */
  start(claim: Claim): Promise<void> | undefined {
    const turn = new Turn(this.#around, this, { claim });
    this.#turns.set(turn.taskId, turn);
    const { executor, limits } = this.#around;
    if (claim.cancel) turn.conclude('TASK_STATE_CANCELED');
    // It had asked its question before its process died: the task goes on waiting for the answer.
    else if (claim.began && isInterrupted(claim.task.status.state)) turn.leave();
    else if (claim.began && !executor.resumable) turn.conclude('TASK_STATE_FAILED', SAYS.interrupted);
    else if (claim.attempt > limits.maxAttempts) turn.conclude('TASK_STATE_FAILED', SAYS.exhausted);
    else {
      turn.run();
      return undefined;
    }
    return turn.left;
  }

  /** Runs an agent that has yet to decide whether its answer is a task. */
  draft(draft: Draft): Turn {
    const turn = new Turn(this.#around, this, { draft });
    turn.place = this.#drafts.add(turn);
    turn.run();
    return turn;
  }

  opened(turn: Turn): void {
    // One that has ended meanwhile is in neither list.
    if (turn.place === undefined) return;
    this.#dropDraft(turn);
    this.#turns.set(turn.taskId, turn);
  }

  ended(turn: Turn, waiting: number): void {
    this.#dropDraft(turn);
    if (this.#turns.get(turn.taskId) === turn) this.#turns.delete(turn.taskId);
    if (waiting > 0 && !this.#closing) void this.#claimNext(turn);
    if (this.running === 0) this.#idle?.();
  }

  /**
   * Takes over what nobody runs, now and, where other processes share the storage, from time to time. Resolves when the
   * tasks that end with that have ended, so that no caller sees them at work; a storage that fails is not waited for.
   */
  async recover(): Promise<void> {
    await this.#withPatience(Promise.all(await this.#claimAll()));
    if (this.#around.storage.shared && !this.#closing) this.#beat();
  }

  /** Lets running turns finish for a while, then hands the rest over; nothing new starts. Ends whatever the storage does. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#stopBeat?.();
    if (this.running > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#around.clock.after(graceMs, resolve);
        this.#idle = () => {
          stopTimer();
          resolve();
        };
      });
    }
    const turns = [...this.#turns.values(), ...this.#drafts.values()];
    await this.#withPatience(Promise.all(turns.map((turn) => this.#handOver(turn))));
    for (const turn of [...this.#turns.values(), ...this.#drafts.values()]) this.#giveUp(turn);
    this.#around.feeds.shutDown();
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
    this.#around.logger.error('a turn could not be handed over', { taskId: turn.taskId, error });
    turn.overtaken();
  }

  /** Waits for the storage, but not longer than for an agent. */
  async #withPatience(work: Promise<unknown>): Promise<void> {
    const { clock, limits } = this.#around;
    let stopTimer = () => {};
    const patience = new Promise<void>((resolve) => {
      stopTimer = clock.after(limits.cancelGraceMs, resolve);
    });
    await Promise.race([work, patience]);
    stopTimer();
  }

  #dropDraft(turn: Turn): void {
    if (turn.place !== undefined) this.#drafts.remove(turn.place);
    turn.place = undefined;
  }

  async #claimAll(): Promise<(Promise<void> | undefined)[]> {
    const { storage, lease, agent } = this.#around;
    const ends: (Promise<void> | undefined)[] = [];
    for (;;) {
      const claims = await storage.claim({ ...lease, agents: [agent], limit: CLAIM_BATCH });
      for (const claim of claims) ends.push(this.start(claim));
      if (claims.length < CLAIM_BATCH) return ends;
    }
  }

  async #claimNext(turn: Turn): Promise<void> {
    const { storage, lease, agent, logger } = this.#around;
    try {
      const task = { agent, id: turn.taskId };
      for (const claim of await storage.claim({ ...lease, agents: [agent], limit: 1, task })) this.start(claim);
    } catch (error) {
      const level = failureLevel(error);
      logger[level]('claiming the next turn failed, trying again', { taskId: turn.taskId, error });
      this.#around.clock.after(1_000, () => void this.#claimNext(turn));
    }
  }

  /** Keeps the leases of the turns that run here, and looks for those whose owner is gone. */
  #beat(): void {
    const { clock, limits, logger } = this.#around;
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
    const { storage, lease } = this.#around;
    const renewals = await storage.renew({ ...lease, turns: turns.map(({ held }) => held) });
    for (const [index, { turn }] of turns.entries()) {
      const renewal = renewals[index];
      // A turn that has ended meanwhile is not overtaken.
      if (!renewal || this.#turns.get(turn.taskId) !== turn) continue;
      if (!renewal.held) turn.lost();
      else if (renewal.cancel) turn.cancel(renewal.cancel);
    }
  }
}
