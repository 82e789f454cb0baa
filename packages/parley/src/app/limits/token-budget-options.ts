import { type OptionSchemas, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';

/** Tokens of models that agents may use: input, output, and those of the agents that they call. */
export interface TokenBudgetOptions {
  /** Most tokens of one turn; default: no limit. */
  readonly turn?: number;
  /** Most tokens of all turns of a task; default: no limit. */
  readonly task?: number;
  /**
   * Most tokens of one user of an agent within a day of UTC; anonymous callers are one user. The tokens of called
   * agents count for the users there. Default: no limit.
   */
  readonly ownerPerDay?: number;
}

/** Counters in a database have 32 bits. */
const tokens = Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));
const members: OptionSchemas<TokenBudgetOptions> = { turn: tokens, task: tokens, ownerPerDay: tokens };

/** The schema of TokenBudgetOptions. */
export const tokenBudgetSchema = optionObject(members);
