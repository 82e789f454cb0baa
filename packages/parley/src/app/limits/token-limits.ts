import { chainIn } from '../../agent-calls/call-chain.js';
import type { Clock } from '../../runtime/clock.js';
import type { ServedTurn, TokenLimits } from '../../server/turn-ports.js';
import type { RateCounters } from '../../store/rate-counters.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TokenMetrics } from '../../telemetry/token-metrics.js';
import { DayTokens } from './day-tokens.js';
import type { TokenBudgetOptions } from './token-budget-options.js';

/** The budgets of a host, and its ports. */
interface TokenBudgetsOptions {
  readonly budget: TokenBudgetOptions | undefined;
  /** Counts tokens. Absent: nothing is measured. */
  readonly metrics: () => TokenMetrics | undefined;
  /** The counters of the storage, if several processes share it. */
  readonly counters: RateCounters | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The tokens of the turns of a host. A caller may lower the budget of a turn, and never raise it. */
export function tokenLimits(options: TokenBudgetsOptions): (turn: Pick<ServedTurn, 'scope' | 'caller'>) => TokenLimits {
  const { budget = {}, metrics } = options;
  const { turn, task, ownerPerDay } = budget;
  const days = ownerPerDay === undefined ? undefined : new DayTokens({ ...options, limit: ownerPerDay });
  return ({ scope, caller: { requestMetadata } }) => {
    const { agent, tenant, owner } = scope;
    const handed = chainIn(requestMetadata)?.remainingTokens;
    const key = JSON.stringify([agent, tenant, owner]);
    return {
      most: {
        ...(turn !== undefined && { turn }),
        ...(task !== undefined && { task }),
        ...(handed !== undefined && { caller: handed }),
      },
      mostToday: ownerPerDay,
      restToday: async () => (await days?.rest(key)) ?? Infinity,
      spend: async (usage) => {
        metrics()?.used({ agent, owner: owner ?? '' }, usage);
        return (await days?.spend(key, usage.inputTokens + usage.outputTokens)) ?? Infinity;
      },
      exceeded: (name) => metrics()?.exceeded(agent, name),
    };
  };
}
