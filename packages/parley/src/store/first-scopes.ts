import type { ListedScope, ScopeRange } from './owner-storage.js';
import type { Scope } from './task-key.js';

/** The first scopes of a range, in the order of their texts, for a storage without an index of scopes. */
export class FirstScopes {
  readonly #range: ScopeRange;
  #found = new Map<string, Scope>();

  constructor(range: ScopeRange) {
    this.#range = range;
  }

  /** Adds a scope, in any order. Duplicates are allowed. Memory holds little more than the limit. */
  add(scope: Scope): void {
    const { cursor = '', limit } = this.#range;
    const text = JSON.stringify([scope.agent, scope.tenant, scope.owner]);
    if (text <= cursor) return;
    this.#found.set(text, scope);
    if (this.#found.size > 2 * limit + 100) this.#cut();
  }

  get page(): readonly ListedScope[] {
    this.#cut();
    return [...this.#found].map(([cursor, scope]) => ({ scope, cursor }));
  }

  #cut(): void {
    const sorted = [...this.#found].sort(([one], [other]) => (one < other ? -1 : 1));
    this.#found = new Map(sorted.slice(0, this.#range.limit));
  }
}
