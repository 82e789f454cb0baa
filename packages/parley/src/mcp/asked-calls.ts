/** A call of a server, and its ports. */
export interface RunningCall<Result> {
  readonly signal: AbortSignal;
  readonly perform: () => Promise<Result>;
  /** Resolves when no more questions of a call can arrive that was given up. */
  readonly settle: () => Promise<void>;
  /** True if the server has ended the call with this error. */
  readonly isAnswer: (error: unknown) => boolean;
}

/**
 * The calls of a server that run now. A question of the server names no call. It belongs to the only call that is left
 * once the others have their results.
 */
export class AskedCalls<Call> {
  readonly #active = new Set<Call>();
  /** Questions that wait until one call is left. */
  #pending = 0;
  /** Grows when a call is given up: each question that waits then may be its question. */
  #givenUp = 0;
  /** True after the first question. From then on calls run one after another. */
  #hasAsked = false;
  /** Calls whose questions came at the same time, and were dismissed. */
  readonly #unclear = new Set<Call>();
  #changed = Promise.withResolvers<void>();

  /**
   * Runs a call. Calls run side by side until the server asks for the first time. A call whose question was dismissed
   * because it was unclear runs once more, alone. As after an answer, it repeats the work before its question.
   */
  async run<Result>(call: Call, running: RunningCall<Result>): Promise<Result> {
    for (;;) {
      while (this.#hasAsked && this.#active.size > 0) await this.#changed.promise;
      running.signal.throwIfAborted();
      try {
        const result = await this.#once(call, running);
        if (!this.#unclear.delete(call)) return result;
      } catch (error) {
        // Servers may end a call by an error if its question is dismissed.
        if (!this.#unclear.delete(call) || !running.isAnswer(error)) throw error;
      }
    }
  }

  /**
   * The call that a question belongs to. Undefined if that is not known. If all calls wait for answers, their questions
   * cannot be told apart, and they run again one after another.
   */
  async asked(): Promise<Call | undefined> {
    const givenUp = this.#givenUp;
    this.#hasAsked = true;
    this.#pending += 1;
    this.#change();
    try {
      while (this.#active.size > 1 && this.#pending < this.#active.size) await this.#changed.promise;
      if (this.#givenUp !== givenUp) return undefined;
      const [only] = this.#active;
      if (only !== undefined && this.#active.size === 1) {
        this.#unclear.delete(only);
        return only;
      }
      for (const call of this.#active) this.#unclear.add(call);
      // The other questions see the same number.
      await Promise.resolve();
      return undefined;
    } finally {
      this.#pending -= 1;
    }
  }

  async #once<Result>(call: Call, { perform, settle }: RunningCall<Result>): Promise<Result> {
    this.#active.add(call);
    try {
      return await perform();
    } catch (error) {
      await settle();
      this.#givenUp += 1;
      throw error;
    } finally {
      this.#active.delete(call);
      this.#change();
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
