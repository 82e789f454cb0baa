import type { LanguageModelUsage } from 'ai';
import { providerUsage } from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';

/**
 * Counts the tokens of the steps of one answer. The AI SDK is ahead of the reader of its stream, so both report the end
 * of each step, which is counted once.
 */
export class StepCounts {
  readonly #context: Pick<RequestContext, 'countTokens'>;
  #counted = 0;
  #read = 0;

  constructor(context: Pick<RequestContext, 'countTokens'>) {
    this.#context = context;
  }

  /**
   * Called before the model is called again, after these steps.
   * @throws TokenBudgetError if a budget is used up.
   */
  async before(steps: readonly { readonly usage: LanguageModelUsage }[]): Promise<void> {
    for (const [at, { usage }] of steps.entries()) await this.#count(at, usage);
    await this.#context.countTokens();
  }

  /**
   * Called when the reader has read the end of a step.
   * @throws TokenBudgetError if it has used up a budget.
   */
  async countUsage(usage: LanguageModelUsage): Promise<void> {
    await this.#count(this.#read++, usage);
  }

  async #count(at: number, usage: LanguageModelUsage): Promise<void> {
    if (at < this.#counted) return;
    this.#counted = at + 1;
    const { inputTokens, outputTokens, inputTokenDetails } = usage;
    const cachedInputTokens = inputTokenDetails?.cacheReadTokens;
    await this.#context.countTokens(providerUsage({ inputTokens, outputTokens, cachedInputTokens }));
  }
}
