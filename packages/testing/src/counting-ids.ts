import type { IdSource } from 'parley-a2a/server';

/** Ids that count up, the same in every run. */
export class CountingIds implements IdSource {
  readonly #prefix: string;
  #count = 0;

  constructor(prefix = 'test') {
    this.#prefix = prefix;
  }

  ordered(): string {
    return this.#next('ordered');
  }

  random(): string {
    return this.#next('random');
  }

  #next(kind: string): string {
    this.#count += 1;
    return `${this.#prefix}-${kind}-${String(this.#count).padStart(6, '0')}`;
  }
}
