import { failureLevel } from '../../errors/storage-error.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { Claim, HeldTurn, Renewal } from '../../store/held-turn.js';
import { isSameScope, type Scope, type TaskKey } from '../../store/task-key.js';
import type { EngineLimits } from '../engine-limits.js';
import { type TurnArrival, TurnArrivals } from './arrivals.js';
import type { EngineContext } from './engine-context.js';
import type { LeasedTurn, NodeMember } from './engine-node.js';
import type { TaskFeeds } from './task-feeds.js';
import { Turn, type TurnEnd, type TurnOwner, type TurnStart } from './turn.js';
import { authorizationEnd, type TurnFate, turnFate } from './turn-fate.js';
import { lostAttempt } from './turn-trace.js';

const CLAIM_RETRY_MS = 1_000;
/** Maximum delay of the next turn behind a turn in its last attempt, in ms. */
const ALONE_MS = 30_000;

/** The turns of one agent in this process. */
export class RunningTurns implements TurnOwner, NodeMember {
  /** True from the start of `close`. */
  closing = false;
  readonly #context: EngineContext;
  readonly #turns = new TurnsByTask();
  readonly #arrivals: TurnArrivals;
  readonly #leave: () => void;
  #idle: (() => void) | undefined;
  /** The chain of turns that were taken over. They start one after another. */
  #begins: Promise<void> = Promise.resolve();

  constructor(context: EngineContext) {
    this.#context = context;
    this.#arrivals = new TurnArrivals(() => context.node.sentNow());
    this.#leave = context.node.join(this);
  }

  get agent(): string {
    return this.#context.agent;
  }

  get limits(): EngineLimits {
    return this.#context.limits;
  }

  get feeds(): TaskFeeds {
    return this.#context.feeds;
  }

  get running(): number {
    return this.#turns.size;
  }

  runs(key: TaskKey): boolean {
    return this.of(key)?.held !== undefined;
  }

  /** The turn of a task in this process, or the draft that may become the task. */
  of({ scope, id }: TaskKey): Turn | undefined {
    return this.#turns.find(scope, id);
  }

  /** Resolves when the calls in progress have ended that may assign a turn of this task; undefined if there is none. */
  arriving(key: TaskKey): Promise<unknown> | undefined {
    return this.#arrivals.over(key);
  }

  /** Registers a storage call that may assign a turn. Must be called before it. */
  registerArrival(key: TaskKey): TurnArrival {
    return this.#arrivals.begin(key);
  }

  /**
   * Registers a turn that this process has claimed. `sentAt`: the time of the claim. From then on a cancel finds the
   * turn. It does not run yet. While the server closes, the turn is released for the next process.
   * `callerKey` identifies the caller in limits; default: the owner of the task.
   */
  admit(claim: Claim, sentAt: number, callerKey = claim.scope.owner ?? undefined): Turn {
    // A claim replaces every other turn of the task, including one of this process with an expired lease.
    this.#turns.find(claim.scope, claim.task.id)?.advance('give up');
    const turn = this.enter({ claim, callerKey });
    if (this.#context.storage.shared) this.#leased(turn, sentAt);
    if (this.closing) void turn.handOver();
    return turn;
  }

  /**
   * Registers a turn or a draft, which does not run yet. It counts for its caller without a check of the limits: it is
   * claimed, or the limits were checked before.
   */
  enter(start: TurnStart): Turn {
    const turn = new Turn(this.#context, this, start);
    this.#context.turnPlaces.add(turn.callerKey);
    this.#turns.put(turn);
    return turn;
  }

  /** Runs an admitted turn, unless the server is closing. */
  start(turn: Turn): void {
    if (this.closing) void turn.handOver();
    else turn.advance('run');
  }

  /** The answer of the storage may come after the end of the lease, when another process may run the turn. */
  storing(turn: Turn): void {
    this.#leased(turn, this.#context.node.sentNow());
  }

  ended(turn: Turn, { isLost, waiting }: TurnEnd): void {
    this.#turns.delete(turn);
    this.#context.turnPlaces.give(turn.callerKey);
    if (turn.leaseEnd !== undefined) this.#context.node.look({ scope: turn.scope, id: turn.taskId });
    if (!this.closing) {
      if (isLost) this.#context.node.figures.leasesLost += 1;
      if (waiting > 0) void this.#claimNext(turn);
    } else if (this.running === 0) this.#idle?.();
  }

  /**
   * Takes over the turns that no process runs. Ends tasks that cannot continue. Resolves after that, so that no caller
   * sees them as running. If the storage is slow, it resolves after `cancelGraceMs`, and the rest happens in the
   * background.
   * @throws StorageError if the storage fails before that: no agent can be served yet.
   */
  async recover(): Promise<void> {
    const takenOver = this.#takeOverAll();
    let isLate = false;
    takenOver.catch((error: unknown) => {
      if (isLate && !this.closing) this.#context.node.claimLater(this, error);
    });
    await this.#withPatience(takenOver);
    isLate = true;
  }

  async #takeOverAll(): Promise<void> {
    await this.#context.node.start();
    await Promise.all(await this.#context.node.claimAll([this]));
  }

  lookForReplies(key?: TaskKey): void {
    this.#context.authorizations.loaded?.look(key);
  }

  leased(): readonly LeasedTurn[] {
    return this.#turns.values().flatMap((turn) => this.#leasedTurn(turn) ?? []);
  }

  async leasedOf(key: TaskKey): Promise<LeasedTurn | undefined> {
    await this.#arrivals.over(key);
    const turn = this.of(key);
    return turn && this.#leasedTurn(turn);
  }

  fence(before: number): { readonly fenced: number; readonly next: number | undefined } {
    let fenced = 0;
    let next: number | undefined;
    for (const turn of this.#turns.values()) {
      const { leaseEnd } = turn;
      if (leaseEnd === undefined) continue;
      if (leaseEnd > before) {
        next = Math.min(next ?? leaseEnd, leaseEnd);
      } else {
        fenced += 1;
        turn.advance('give up');
      }
    }
    return { fenced, next };
  }

  expectClaims(): () => void {
    const arrival = this.#arrivals.begin();
    return () => arrival.end();
  }

  takeOver(claim: Claim, sentAt: number): Promise<void> | undefined {
    return this.#takeOver(claim, { sentAt });
  }

  /**
   * Waits up to `graceMs` for running turns, then hands the rest over. Turns that wait for an authorization get no
   * grace. No agent starts. Resolves even if the storage fails.
   */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    for (const turn of this.#turns.values()) turn.yieldToShutdown();
    if (this.running > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#context.clock.after(graceMs, resolve);
        const idle = () => {
          stopTimer();
          resolve();
        };
        this.#idle = idle;
      });
    }
    await this.#withPatience(this.#handOverAll());
    for (const turn of this.#turns.values()) this.#giveUp(turn);
    this.#leave();
    this.#context.feeds.shutDown();
  }

  /** Hands over all turns, including those that arrive during the close. */
  async #handOverAll(): Promise<void> {
    for (;;) {
      const turns = this.#turns.values();
      const arriving = this.#arrivals.over();
      if (turns.length === 0 && arriving === undefined) return;
      await Promise.all([arriving, ...turns.map((turn) => turn.handOver())]);
    }
  }

  /**
   * The storage still names this process as the holder. The next process can claim the turn when its lease has ended.
   */
  #giveUp(turn: Turn): void {
    this.#context.logger.error('a turn could not be handed over', { taskId: turn.taskId });
    turn.advance('give up');
  }

  /** Waits for storage calls, at most `cancelGraceMs`. */
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

  /** Records a lease that began with a call. `sentAt`: the time of that call. */
  #leased(turn: Turn, sentAt: number): void {
    turn.leaseEnd = sentAt + this.#context.node.lease.leaseMs;
    this.#context.node.guard(sentAt);
  }

  #leasedTurn(turn: Turn): LeasedTurn | undefined {
    const held: HeldTurn | undefined = turn.held;
    return held && { held, renewed: (renewal, sentAt) => this.#renewed(turn, renewal, sentAt) };
  }

  #renewed(turn: Turn, renewal: Renewal, sentAt: number): void {
    // A turn that has ended in the meantime is not replaced.
    if (this.#turns.find(turn.scope, turn.taskId) !== turn) return;
    // The lease is not renewed: without a later renewal, the node stops the turn before the lease ends.
    if (renewal.held === 'unknown') return;
    if (!renewal.held) return void turn.advance('not held');
    const leaseEnd = sentAt + this.#context.node.lease.leaseMs;
    if (turn.leaseEnd !== undefined && leaseEnd > turn.leaseEnd) turn.leaseEnd = leaseEnd;
    if (renewal.cancel) turn.cancel(renewal.cancel);
  }

  /** Claims the next turn of a task. It counts for the caller of the previous turn. */
  async #claimNext(turn: Turn): Promise<void> {
    const { storage, node, agent, logger, clock } = this.#context;
    const task = { scope: turn.scope, id: turn.taskId };
    const arrival = this.#arrivals.begin(task);
    try {
      const { claims } = await storage.claim({ ...node.lease, agents: [agent], limit: 1, task });
      for (const claim of claims) void this.#takeOver(claim, { sentAt: arrival.sentAt, before: turn });
    } catch (error) {
      const level = failureLevel(error);
      logger[level]('claiming the next turn failed, trying again', { taskId: turn.taskId, error });
      clock.after(CLAIM_RETRY_MS, () => {
        if (!this.closing) void this.#claimNext(turn);
      });
    } finally {
      arrival.end();
    }
  }

  /**
   * Decides about a claimed turn and executes the decision. `before`: the turn of the task that has just ended here.
   */
  #takeOver(
    claim: Claim,
    { sentAt, before }: { readonly sentAt: number; readonly before?: Turn },
  ): Promise<void> | undefined {
    try {
      const turn = this.admit(claim, sentAt, before?.callerKey);
      const { executor, limits } = this.#context;
      const fate = turnFate(claim, { resumable: executor.resumable === true, maxAttempts: limits.maxAttempts });
      this.#tellLost(turn, claim, fate);
      switch (fate) {
        case 'run':
          // Turns start one after the other, so that few turns are suspects if the process dies.
          if (before) void turn.begin();
          else this.#begins = this.#begins.then(() => turn.begin());
          return undefined;
        case 'run-alone':
          this.#beginAlone(turn);
          return undefined;
        case 'keep':
          this.#keep(turn, claim);
          return undefined;
        case 'cancel':
          turn.advance('cancel');
          break;
        case 'wait':
          turn.advance('leave');
          break;
        case 'interrupted':
        case 'exhausted':
          turn.advance(fate);
          break;
      }
      return turn.whenEnded;
    } catch (error) {
      // The turn stays claimed, so that it is not claimed repeatedly. The next process tries again.
      this.#context.logger.error('a claimed turn cannot be taken over', { turn: claim.turn, error });
      return undefined;
    }
  }

  /** Ends the span of the previous attempt if its process has died. */
  #tellLost({ trace }: Turn, claim: Claim, fate: TurnFate): void {
    const { tracing } = this.#context.turnPorts;
    const lost = tracing?.isOn && lostAttempt(claim, fate);
    if (tracing && trace && lost) trace.before = tracing.lost(lost) ?? trace.before;
  }

  /**
   * Holds a turn whose task waits for an authorization until that expires. The agent is restarted once the answer has
   * arrived. A message of the caller ends the turn, and starts the next one.
   */
  #keep(turn: Turn, claim: Claim): void {
    const { clock, authorizations, logger, limits } = this.#context;
    const { status } = claim.task;
    const end = authorizationEnd(status) ?? 0;
    // An answer that crashes the process must not do so repeatedly.
    const mayRun = claim.attempt - 1 - claim.handOvers < limits.maxAttempts;
    turn.advance('keep');
    const stopTimer = clock.after(Math.max(0, end - clock.now()), () => turn.advance('expired'));
    void turn.whenEnded.then(stopTimer);
    const runAgain = () => {
      stopTimer();
      turn.advance(mayRun ? 'begin' : 'exhausted');
    };
    authorizations.get().then(
      (loaded) => loaded.keep(turn, status.message?.messageId ?? '', runAgain),
      (error: unknown) => logger.error('answers to an agent are not noticed', { taskId: turn.taskId, error }),
    );
  }

  /**
   * Starts a turn in its last attempt when no other such turn runs, or when the previous one has run for a while. If
   * one turn crashes the process, the others do not lose their last attempt.
   */
  #beginAlone(turn: Turn): void {
    const { whenEnded } = turn;
    this.#context.node.lastAttempts.enter((leave) => {
      const stopTimer = this.#context.clock.after(ALONE_MS, leave);
      void whenEnded.then(() => {
        stopTimer();
        leave();
      });
      void turn.begin();
    });
  }
}

/** Turns by task. The map is keyed by task id, and the few tasks with the same id are distinguished by scope. */
class TurnsByTask {
  readonly #byId = new TransientMap<string, Turn[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  find(scope: Scope, id: string): Turn | undefined {
    return this.#byId.get(id)?.find((turn) => isSameScope(turn.scope, scope));
  }

  /** Adds a turn. Its task must have no other one. */
  put(turn: Turn): void {
    const others = this.#byId.get(turn.taskId);
    if (others === undefined) this.#byId.set(turn.taskId, [turn]);
    else others.push(turn);
    this.#size += 1;
  }

  delete(turn: Turn): void {
    const turns = this.#byId.get(turn.taskId) ?? [];
    const index = turns.indexOf(turn);
    if (index < 0) return;
    this.#size -= 1;
    if (turns.length === 1) this.#byId.delete(turn.taskId);
    else turns.splice(index, 1);
  }

  values(): Turn[] {
    return this.#byId.values().flat();
  }
}
