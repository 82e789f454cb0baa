import { TokenBudgetError, type UsedBudget } from '../../errors/token-budget-error.js';
import { checkedUsage, type TokenUsage, totalTokens, type UsageSums } from '../../task/token-usage.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TokenLimits } from '../turn-ports.js';
import { TurnOverError } from './turn-events.js';

/** The turn whose tokens are counted. */
export interface CountedTurn {
  readonly taskId: string;
  readonly usage: UsageSums;
  /** Stores the sums for a later attempt. */
  saveUsage(): Promise<void>;
  /** Ends the turn. */
  overBudget(error: TokenBudgetError): void;
}

/** The ports of the tokens of a turn. */
interface TurnTokensOptions {
  readonly turn: CountedTurn;
  /** Absent: no budgets. */
  readonly limits: Promise<TokenLimits> | undefined;
  readonly logger: Logger;
}

const BUDGETS = ['turn', 'task', 'caller'] as const;

/**
 * The tokens of one turn. Each call of a model is added once, at its end, and stored before the agent continues. The
 * sums of an attempt that was overtaken stay stored, and the next attempt adds to them.
 */
export class TurnTokens {
  readonly #turn: CountedTurn;
  readonly #limits: Promise<TokenLimits> | undefined;
  readonly #logger: Logger;
  #error: TokenBudgetError | undefined;

  constructor({ turn, limits, logger }: TurnTokensOptions) {
    this.#turn = turn;
    this.#limits = limits;
    this.#logger = logger;
  }

  /** @throws TokenBudgetError if a budget is used up. */
  async count(usage: TokenUsage | undefined): Promise<void> {
    const counted = usage && checkedUsage(usage);
    if (counted !== undefined) this.#turn.usage.add(counted);
    const limits = await this.#limits;
    if (counted === undefined) return this.#check(limits, { overrun: 0, restToday: await limits?.restToday() });
    const [restToday] = await Promise.all([limits?.spend(counted), this.#save()]);
    this.#check(limits, { overrun: 1, restToday });
  }

  /**
   * Adds the tokens that the task of a called agent reports. `most`: the rest of the budgets that was passed to the
   * call. Only that much counts, so that a false report cannot end the turn.
   */
  async addCalled(task: string, tokens: number, most?: number): Promise<void> {
    const { usage, taskId } = this.#turn;
    if (!usage.addCalled(task, tokens, most))
      this.#logger.warn('another agent tells more tokens than it was left', { taskId, tokens, left: most });
    await this.#save();
    this.#check(await this.#limits, { overrun: 1 });
  }

  /** Returns the rest of the smallest budget. Undefined if there is none. */
  async rest(): Promise<number | undefined> {
    const limits = await this.#limits;
    if (limits === undefined) return undefined;
    const rests = BUDGETS.map((budget) => (limits.most[budget] ?? Infinity) - this.#used(budget));
    const least = Math.min(await limits.restToday(), ...rests);
    return Number.isFinite(least) ? Math.max(0, least) : undefined;
  }

  /** `overrun` 1: a call may end exactly at the limit. 0: no call may start at the limit. */
  #check(
    limits: TokenLimits | undefined,
    { overrun, restToday = Infinity }: { readonly overrun: 0 | 1; readonly restToday?: number | undefined },
  ): void {
    if (this.#error !== undefined) throw this.#error;
    if (limits === undefined) return;
    const { most, mostToday } = limits;
    const over = BUDGETS.map((budget) => ({ budget, used: this.#used(budget), limit: most[budget] ?? Infinity })).find(
      ({ used, limit }) => used >= limit + overrun,
    );
    const today: UsedBudget | undefined =
      mostToday !== undefined && restToday < 1 - overrun
        ? { budget: 'ownerPerDay', used: mostToday - restToday, limit: mostToday }
        : undefined;
    const used = over ?? today;
    if (used === undefined) return;
    this.#error = new TokenBudgetError(used);
    limits.exceeded(used.budget);
    this.#turn.overBudget(this.#error);
    throw this.#error;
  }

  #used(budget: (typeof BUDGETS)[number]): number {
    const { task, turn } = this.#turn.usage;
    return totalTokens(budget === 'task' ? task : turn);
  }

  async #save(): Promise<void> {
    try {
      await this.#turn.saveUsage();
    } catch (error) {
      // The turn is over, or the storage fails: the next record contains the sums anyway.
      if (!(error instanceof TurnOverError))
        this.#logger.warn('the tokens of a turn were not stored', { taskId: this.#turn.taskId, error });
    }
  }
}
