/** Work that puts back what a transaction has replaced. */
export class Undo {
  readonly #steps: (() => void)[] = [];

  note(step: () => void): void {
    this.#steps.push(step);
  }

  /** Writes all of `work` or nothing. */
  transaction<R>(work: () => R): R {
    this.#steps.length = 0;
    try {
      return work();
    } catch (error) {
      for (const step of this.#steps.reverse()) step();
      throw error;
    }
  }
}

/** Rows by their keys. A row never changes, but is replaced. */
export class Table<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #undo: Undo;

  constructor(undo: Undo) {
    this.#undo = undo;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  put(key: string, row: Row): void {
    this.#noteRow(key);
    this.#rows.set(key, row);
  }

  delete(key: string): void {
    this.#noteRow(key);
    this.#rows.delete(key);
  }

  /** The rows that pass, in an array that later writes do not change. */
  filter(passes: (row: Row) => boolean): Row[] {
    return [...this.#rows.values()].filter(passes);
  }

  #noteRow(key: string): void {
    const before = this.#rows.get(key);
    this.#undo.note(() => (before === undefined ? this.#rows.delete(key) : this.#rows.set(key, before)));
  }
}
