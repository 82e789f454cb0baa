import { isOwnedBy, type OwnerQuery, ownerQueryText } from './owner-query.js';
import type { Scope } from './task-key.js';

/** The owners whose new data a storage of one process refuses. */
export class OwnerBlocks {
  readonly #blocks = new Map<string, { readonly owner: OwnerQuery; readonly until: number }>();

  /** Refuses new data of an owner until a time, in ms since the epoch. */
  set(owner: OwnerQuery, until: number): void {
    this.#blocks.set(ownerQueryText(owner), { owner, until });
  }

  has(scope: Scope, now: number): boolean {
    if (this.#blocks.size === 0) return false;
    for (const [text, { until }] of this.#blocks) if (until <= now) this.#blocks.delete(text);
    return [...this.#blocks.values()].some(({ owner }) => isOwnedBy(owner, scope));
  }
}
