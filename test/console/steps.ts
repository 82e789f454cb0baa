/** Lets an agent take one step for each allowance of the test. */
export class Steps {
  #allowed = 0;
  readonly #waiting: (() => void)[] = [];

  /** Allows further steps. */
  allow(steps: number): void {
    this.#allowed += steps;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves to true at the next step, and to false if the signal ends the wait. */
  async next(signal: AbortSignal): Promise<boolean> {
    while (this.#allowed === 0) {
      if (signal.aborted) return false;
      await new Promise<void>((go) => {
        this.#waiting.push(go);
        signal.addEventListener('abort', () => go(), { once: true });
      });
    }
    this.#allowed -= 1;
    return true;
  }
}
