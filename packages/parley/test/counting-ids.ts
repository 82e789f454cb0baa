import type { IdSource } from '../src/runtime/id-source.js';

/** Ids that count up, the same in every run. */
export class CountingIds implements IdSource {
  #count = 0;
  readonly #prefix: string;

  constructor(prefix = '') {
    this.#prefix = prefix;
  }

  ordered(): string {
    this.#count += 1;
    return `${this.#prefix}t${String(this.#count).padStart(6, '0')}`;
  }

  random(): string {
    this.#count += 1;
    return `${this.#prefix}i${this.#count}`;
  }
}
