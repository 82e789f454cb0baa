import type { Counter, Meter } from './meter.js';
import { METRICS } from './metric-names.js';

/** Tokens of one call of a model. */
type Counts = Readonly<Record<'inputTokens' | 'outputTokens' | 'cachedInputTokens', number>>;

/** Maximum number of owners with separate series. Further ones share one. */
const MOST_OWNERS = 500;
const OTHERS = '_other';

/** Counts the tokens of models, by agent and owner, and the turns that a budget has ended. */
export class TokenMetrics {
  readonly #tokens: readonly Counter[];
  readonly #exceeded: readonly Counter[];
  readonly #owners = new Set<string>();

  constructor(meters: readonly Meter[]) {
    this.#tokens = meters.map((meter) => meter.createCounter(METRICS.tokens.name, METRICS.tokens));
    this.#exceeded = meters.map((meter) => meter.createCounter(METRICS.budgetsExceeded.name, METRICS.budgetsExceeded));
  }

  /** `owner`: "" for anonymous callers. */
  used(
    { agent, owner }: { readonly agent: string; readonly owner: string },
    { inputTokens, outputTokens, cachedInputTokens: cached }: Counts,
  ): void {
    const attributes = { agent, owner: this.#shown(owner) };
    // The types can be added: cached tokens are not part of `input`.
    const counts = { input: inputTokens - cached, cached_input: cached, output: outputTokens };
    for (const counter of this.#tokens) {
      for (const [type, count] of Object.entries(counts)) if (count > 0) counter.add(count, { ...attributes, type });
    }
  }

  exceeded(agent: string, budget: string): void {
    for (const counter of this.#exceeded) counter.add(1, { agent, budget });
  }

  #shown(owner: string): string {
    if (this.#owners.has(owner)) return owner;
    if (this.#owners.size >= MOST_OWNERS) return OTHERS;
    this.#owners.add(owner);
    return owner;
  }
}
