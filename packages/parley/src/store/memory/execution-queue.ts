import { LinkedList } from '../../runtime/linked-list.js';
import type { Lease } from '../task-storage.js';
import { SortedList } from './sorted-list.js';
import type { TaskEntry } from './task-entry.js';

/** Who wants how many turns of which agents. */
export interface Demand extends Lease {
  readonly agents: readonly string[];
  readonly limit: number;
}

/** Which tasks have a turn to claim, in the order in which the messages came. */
export class ExecutionQueue {
  readonly #ready = new SortedList<TaskEntry>((a, b) => (a.readyOrder ?? 0) - (b.readyOrder ?? 0));
  readonly #held = new LinkedList<TaskEntry>();
  /** No lease ends before this. */
  #quietUntil = Number.POSITIVE_INFINITY;

  /** To be called after every change to the executions of a task. */
  update(entry: TaskEntry): void {
    const first = entry.executions[0];
    const order = first?.node === undefined ? first?.order : undefined;
    if (order !== entry.readyOrder) {
      if (entry.readyOrder !== undefined) this.#ready.remove(entry);
      entry.readyOrder = order;
      if (order !== undefined) this.#ready.add(entry);
    }
    if (first?.node === undefined) {
      if (entry.heldPlace !== undefined) this.#held.remove(entry.heldPlace);
      entry.heldPlace = undefined;
    } else {
      entry.heldPlace ??= this.#held.add(entry);
      this.#quietUntil = Math.min(this.#quietUntil, first.leaseEnd);
    }
  }

  /** Executions that nobody runs. */
  get waiting(): number {
    let waiting = 0;
    for (const entry of this.#ready.ascending()) waiting += entry.executions.length;
    for (const entry of this.#held.values()) waiting += entry.executions.length - 1;
    return waiting;
  }

  /** Tasks whose first execution this node may claim now, oldest first. */
  claimable(demand: Demand, now: number): TaskEntry[] {
    const found: TaskEntry[] = [];
    for (const entry of this.#ready.ascending()) {
      if (found.length >= demand.limit) break;
      if (isClaimable(entry, demand, now)) found.push(entry);
    }
    if (now < this.#quietUntil) return found;
    for (const entry of this.#expired(now)) {
      if (isClaimable(entry, demand, now)) found.push(entry);
    }
    return found.sort((a, b) => firstOrder(a) - firstOrder(b)).slice(0, Math.max(0, demand.limit));
  }

  #expired(now: number): TaskEntry[] {
    const expired: TaskEntry[] = [];
    this.#quietUntil = Number.POSITIVE_INFINITY;
    for (const entry of this.#held.values()) {
      const leaseEnd = entry.held?.leaseEnd ?? Number.POSITIVE_INFINITY;
      this.#quietUntil = Math.min(this.#quietUntil, leaseEnd);
      if (leaseEnd <= now) expired.push(entry);
    }
    return expired;
  }
}

/** Whether the first execution is free for this node: nobody has it, or the lease of another node has ended. */
export function isClaimable(entry: TaskEntry, demand: Demand, now: number): boolean {
  const first = entry.executions[0];
  if (first === undefined || !demand.agents.includes(entry.space.scope.agent)) return false;
  return first.node === undefined || (first.leaseEnd <= now && first.node !== demand.node);
}

function firstOrder(entry: TaskEntry): number {
  return entry.executions[0]?.order ?? 0;
}
