import { LinkedList } from '../../runtime/linked-list.js';
import { SortedList } from './sorted-list.js';
import type { TaskEntry } from './task-entry.js';

/** Tasks with a claimable turn, in order of arrival of their messages. */
export class TurnQueue {
  readonly #ready = new SortedList<TaskEntry>((a, b) => (a.readyOrder ?? 0) - (b.readyOrder ?? 0));
  readonly #held = new LinkedList<TaskEntry>();
  /** No lease ends before this. */
  #quietUntil = Number.POSITIVE_INFINITY;

  /** Updates the indexes. Must be called after every change to the queue or the holder of a task. */
  update(entry: TaskEntry): void {
    const { holder } = entry;
    const order = holder === undefined ? entry.queue[0]?.order : undefined;
    if (order !== entry.readyOrder) {
      if (entry.readyOrder !== undefined) this.#ready.remove(entry);
      entry.readyOrder = order;
      if (order !== undefined) this.#ready.add(entry);
    }
    if (holder === undefined) {
      if (entry.heldPlace !== undefined) this.#held.remove(entry.heldPlace);
      entry.heldPlace = undefined;
    } else {
      entry.heldPlace ??= this.#held.add(entry);
      this.#quietUntil = Math.min(this.#quietUntil, holder.leaseEnd);
    }
  }

  /** Count of turns that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const entry of this.#ready.ascending()) waiting += entry.queue.length;
    for (const entry of this.#held.values()) waiting += entry.queue.length - 1;
    return waiting;
  }

  /** The order of the oldest turn without a holder. */
  get oldest(): number | undefined {
    for (const entry of this.#ready.ascending()) return entry.readyOrder;
    return undefined;
  }

  /** Tasks whose first turn has no holder, or one whose lease has ended: oldest first. */
  *free(now: number): Generator<TaskEntry, void> {
    const expired = now < this.#quietUntil ? [] : this.#expired(now);
    let next = expired.shift();
    for (const entry of this.#ready.ascending()) {
      for (; next !== undefined && firstOrder(next) < firstOrder(entry); next = expired.shift()) yield next;
      yield entry;
    }
    for (; next !== undefined; next = expired.shift()) yield next;
  }

  #expired(now: number): TaskEntry[] {
    const expired: TaskEntry[] = [];
    this.#quietUntil = Number.POSITIVE_INFINITY;
    for (const entry of this.#held.values()) {
      const leaseEnd = entry.holder?.leaseEnd ?? Number.POSITIVE_INFINITY;
      this.#quietUntil = Math.min(this.#quietUntil, leaseEnd);
      if (leaseEnd <= now) expired.push(entry);
    }
    return expired.sort((a, b) => firstOrder(a) - firstOrder(b));
  }
}

function firstOrder(entry: TaskEntry): number {
  return entry.queue[0]?.order ?? 0;
}
