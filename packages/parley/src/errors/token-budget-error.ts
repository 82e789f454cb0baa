import { A2AError } from './a2a-error.js';

/** A budget of tokens. */
export type TokenBudgetName = 'turn' | 'task' | 'ownerPerDay' | 'caller';

/** A budget that is used up. */
export interface UsedBudget {
  readonly budget: TokenBudgetName;
  /** Tokens that were used. */
  readonly used: number;
  /** Tokens that are allowed. */
  readonly limit: number;
}

const TEXTS: Readonly<Record<TokenBudgetName, string>> = {
  turn: 'of one turn is used up: {n}. The operator sets it by tokenBudget.turn',
  task: 'of this task is used up: {n}. The operator sets it by tokenBudget.task',
  ownerPerDay: 'of this user is used up for today: {n}. The operator sets it by tokenBudget.ownerPerDay',
  caller: 'that the calling agent has left is used up: {n}. The operator of that agent sets it',
};

/** The end of a turn whose models have used up a budget of tokens. */
export class TokenBudgetError extends A2AError {
  readonly budget: TokenBudgetName;
  readonly used: number;
  readonly limit: number;

  constructor({ budget, used, limit }: UsedBudget) {
    const figures = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} tokens`;
    const text = `The budget ${TEXTS[budget].replace('{n}', figures)}.`;
    super('RESOURCE_EXHAUSTED', text, { metadata: { tokenBudget: budget } });
    this.budget = budget;
    this.used = used;
    this.limit = limit;
  }
}
