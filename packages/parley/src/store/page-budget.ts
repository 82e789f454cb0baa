/**
 * The budget for the JSON of the tasks on one page, in bytes. The first task goes in at any size, so that a list goes
 * on.
 */
export class PageBudget {
  readonly #max: number;
  #bytes: number | undefined;

  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  /** Takes a task in; false if the page ends before it. */
  takes(bytes: number): boolean {
    const sum = (this.#bytes ?? 0) + bytes;
    if (this.#bytes !== undefined && sum > this.#max) return false;
    this.#bytes = sum;
    return true;
  }
}
