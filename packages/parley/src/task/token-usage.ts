import { isObject, type JsonObject, type JsonValue } from '../model/json.js';

/** The metadata key of a task with the token counts of its models. */
export const USAGE_EXTENSION = 'urn:parley-a2a:extension:usage:v1';

/** Tokens of one call of a model. */
export interface TokenUsage {
  /** All input tokens, including cached ones. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** The part of the input that came from a cache. */
  readonly cachedInputTokens?: number | undefined;
}

/** Tokens of several calls. */
export interface TokenSums {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** Input and output tokens of the called agents, as they report them. */
  readonly calledTokens: number;
}

/** Tokens of one call of a model, with all counts. */
export type CountedTokens = Omit<TokenSums, 'calledTokens'>;

/** The token counts of a task, in its metadata. */
export interface TaskUsage extends TokenSums {
  /** The tokens that count for a budget: input, output and called agents. */
  readonly totalTokens: number;
  /** Tokens of the last turn, including all of its attempts. */
  readonly turn: TokenSums & { readonly number: number };
}

const NAMES = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'calledTokens'] as const;
type Sums = Record<(typeof NAMES)[number], number>;

/** Maximum number of called tasks with separate counts. Further ones count from zero if they are called again. */
const MOST_CALLED = 100;

/** Returns the tokens that count for a budget. */
export function totalTokens({ inputTokens, outputTokens, calledTokens }: TokenSums): number {
  return boundSum(inputTokens + outputTokens + calledTokens);
}

/** Returns the usage in the metadata of a task. Undefined if there is none, or it is invalid. */
export function usageIn(metadata: JsonObject | undefined): TaskUsage | undefined {
  const found = metadata?.[USAGE_EXTENSION];
  if (!isObject(found)) return undefined;
  const turn = isObject(found.turn) ? found.turn : {};
  const sums = sumsIn(found as JsonObject);
  return {
    ...sums,
    totalTokens: totalTokens(sums),
    turn: { number: countIn(turn.number), ...sumsIn(turn as JsonObject) },
  };
}

/**
 * The tokens of a task and of its running turn. They only increase: of two states of one task, the one with more tokens
 * is the later one.
 */
export class UsageSums {
  readonly #task: Sums;
  readonly #turn: Sums;
  readonly #number: number;
  readonly #called: Map<string, number>;
  #isTaken = true;

  /**
   * Continues from the states that earlier turns and attempts have stored. `number`: the number of the turn of its
   * task.
   */
  constructor(stored: readonly (JsonValue | undefined)[], number: number) {
    const states = stored.filter(isObject).map((state) => state as JsonObject);
    const last = states.sort((a, b) => totalTokens(sumsIn(b)) - totalTokens(sumsIn(a)))[0] ?? {};
    const turn = isObject(last.turn) && last.turn.number === number ? (last.turn as JsonObject) : {};
    const called = isObject(last.called) ? Object.entries(last.called) : [];
    this.#number = number;
    this.#task = sumsIn(last);
    this.#turn = sumsIn(turn);
    this.#called = new Map(called.map(([call, tokens]) => [call, countIn(tokens)]));
    this.#isTaken = totalTokens(this.#task) === totalTokens(sumsIn(objectOf(stored[0])));
  }

  get task(): TokenSums {
    return this.#task;
  }

  get turn(): TokenSums {
    return this.#turn;
  }

  /** Adds the tokens of one call of a model. */
  add(usage: CountedTokens): void {
    this.#add({ ...usage, calledTokens: 0 });
  }

  /**
   * Adds the tokens of a called agent, whose task has used `tokens` since it began. At most `most` of them count.
   * Returns false if `most` was exceeded.
   */
  addCalled(task: string, tokens: number, most = Infinity): boolean {
    const before = this.#called.get(task) ?? 0;
    if (tokens <= before) return true;
    const added = Math.min(tokens - before, most);
    this.#called.delete(task);
    this.#called.set(task, tokens);
    for (const oldest of this.#called.keys()) {
      if (this.#called.size <= MOST_CALLED) break;
      this.#called.delete(oldest);
    }
    this.#add({ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, calledTokens: added });
    return added === tokens - before;
  }

  /** The state to store. */
  get state(): JsonObject {
    const called = this.#called.size === 0 ? {} : { called: Object.fromEntries(this.#called) };
    return { ...this.#task, turn: { number: this.#number, ...this.#turn }, ...called };
  }

  /** Returns metadata for the next record of the task; undefined if nothing has changed. */
  takeMetadata(): JsonObject | undefined {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    return { [USAGE_EXTENSION]: this.state };
  }

  #add(more: Sums): void {
    this.#isTaken = false;
    for (const name of NAMES) {
      this.#task[name] = boundSum(this.#task[name] + more[name]);
      this.#turn[name] = boundSum(this.#turn[name] + more[name]);
    }
  }
}

/**
 * Checks the counts of a call. Missing counts are zero.
 * @throws TypeError for counts that are no whole numbers from 0.
 */
export function checkedUsage(usage: TokenUsage): CountedTokens {
  if (!isObject(usage)) throw new TypeError('countTokens: needs an object with inputTokens and outputTokens');
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = usage as TokenUsage;
  const counts = { inputTokens, outputTokens, cachedInputTokens };
  for (const [name, count] of Object.entries(counts))
    if (!Number.isSafeInteger(count) || count < 0)
      throw new TypeError(`countTokens: ${name} must be a count of tokens`);
  if (cachedInputTokens > inputTokens)
    throw new TypeError('countTokens: inputTokens must include those of cachedInputTokens');
  return counts;
}

/**
 * Normalizes the token counts of a model provider. Providers omit counts, or send them as texts. They disagree on
 * whether the input includes its cached part.
 */
export function providerUsage(told: { readonly [Name in keyof CountedTokens]?: unknown }): CountedTokens {
  const cachedInputTokens = countIn(told.cachedInputTokens);
  const inputTokens = Math.max(countIn(told.inputTokens), cachedInputTokens);
  return { inputTokens, outputTokens: countIn(told.outputTokens), cachedInputTokens };
}

function sumsIn(state: JsonObject): Sums {
  const { inputTokens, outputTokens, cachedInputTokens, calledTokens } = state;
  return {
    inputTokens: countIn(inputTokens),
    outputTokens: countIn(outputTokens),
    cachedInputTokens: countIn(cachedInputTokens),
    calledTokens: countIn(calledTokens),
  };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function countIn(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function boundSum(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
