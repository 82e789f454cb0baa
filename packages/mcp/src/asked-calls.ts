/** A call of a server, and its ports. */
interface RunningCall<Result> {
  readonly signal: AbortSignal;
  readonly perform: () => Promise<Result>;
  /** Resolves when no more questions of abandoned calls can arrive. */
  readonly settle: () => Promise<void>;
  /** True if the error is the server's answer to the call. */
  readonly isAnswer: (error: unknown) => boolean;
  /** True if the server may still work on the call after this error, and ask a question for it. */
  readonly isLeft: (error: unknown) => boolean;
  /** True if no other call may run concurrently, because a question could belong to either. */
  readonly isAlone: boolean;
  /** True if the call may run twice. */
  readonly isIdempotent: boolean;
}

/** A call that waits for its turn. */
interface WaitingCall<Call> {
  readonly call: Call;
  readonly running: RunningCall<unknown>;
  readonly begin: () => void;
}

/**
 * The running calls of a server. A question that names no call belongs to the only running call, once all others have
 * their results.
 */
export class AskedCalls<Call> {
  readonly #active = new Map<Call, RunningCall<unknown>>();
  readonly #waiting: WaitingCall<Call>[] = [];
  /** Number of questions that wait until one call is left. */
  #pending = 0;
  /** Incremented when a call is abandoned: any waiting question may be one of its questions. */
  #givenUp = 0;
  /** True after the first question that named no call. From then on calls run one after another. */
  #hasAsked = false;
  /** True if the server may still work on an abandoned call, to which an unnamed question may belong. */
  #isDoubtful = false;
  readonly #renew: () => Promise<void>;
  #isRenewing = false;
  /** Idempotent calls with concurrent questions, which were dismissed. */
  readonly #unclear = new Set<Call>();
  #changed = Promise.withResolvers<void>();

  /**
   * `renew` closes the connection. It is called while no call runs, if a question could belong to an abandoned call.
   */
  constructor(renew: () => Promise<void>) {
    this.#renew = renew;
  }

  /** True from the beginning of a call to its end. */
  isRunning(call: Call): boolean {
    return this.#active.has(call);
  }

  /**
   * Runs a call when earlier calls allow it. An idempotent call whose ambiguous question was dismissed runs again,
   * alone. No other call is repeated: it has the result of the server.
   */
  async run<Result>(call: Call, running: RunningCall<Result>): Promise<Result> {
    for (;;) {
      await new Promise<void>((begin) => {
        this.#waiting.push({ call, running, begin });
        this.#admit();
      });
      running.signal.throwIfAborted();
      try {
        const result = await this.#once(call, running);
        if (!this.#unclear.delete(call)) return result;
      } catch (error) {
        // Servers may fail a call if its question is dismissed.
        if (!this.#unclear.delete(call) || !running.isAnswer(error)) throw error;
      }
    }
  }

  /** The call that a question belongs to. Undefined if it is ambiguous: all calls wait for answers. */
  async callOfQuestion(): Promise<Call | undefined> {
    const givenUp = this.#givenUp;
    this.#hasAsked = true;
    this.#pending += 1;
    this.#change();
    try {
      while (this.#active.size > 1 && this.#pending < this.#active.size) await this.#changed.promise;
      if (this.#givenUp !== givenUp) return undefined;
      const [only] = this.#active.keys();
      if (only !== undefined && this.#active.size === 1 && !this.#isDoubtful) {
        this.#unclear.delete(only);
        return only;
      }
      for (const [call, { isIdempotent }] of this.#active) if (isIdempotent) this.#unclear.add(call);
      // Other waiting questions must see the same number first.
      await Promise.resolve();
      return undefined;
    } finally {
      this.#pending -= 1;
    }
  }

  async #once<Result>(call: Call, { perform, settle, isLeft }: RunningCall<Result>): Promise<Result> {
    try {
      return await perform();
    } catch (error) {
      await settle();
      this.#givenUp += 1;
      this.#isDoubtful ||= isLeft(error);
      throw error;
    } finally {
      this.#active.delete(call);
      this.#change();
      this.#admit();
    }
  }

  /** Starts waiting calls in the order of their arrival, after renewing a doubtful connection. */
  #admit(): void {
    if (this.#isDoubtful && this.#hasAsked && this.#active.size === 0 && !this.#isRenewing)
      void this.#renewConnection();
    for (let [next] = this.#waiting; next !== undefined && this.#mayBegin(next.running); [next] = this.#waiting) {
      this.#waiting.shift();
      if (!next.running.signal.aborted) this.#active.set(next.call, next.running);
      next.begin();
    }
  }

  #mayBegin({ isAlone }: RunningCall<unknown>): boolean {
    if (this.#isDoubtful && this.#hasAsked) return false;
    if (this.#active.size === 0) return true;
    return !isAlone && !this.#hasAsked && !Array.from(this.#active.values()).some((other) => other.isAlone);
  }

  async #renewConnection(): Promise<void> {
    this.#isRenewing = true;
    // A connection that cannot be closed is broken, and the next call replaces it.
    await this.#renew().catch(() => {});
    this.#isRenewing = false;
    this.#isDoubtful = false;
    this.#admit();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
