import type { TaskState } from '../../model/task-state.js';
import type { LocalPage } from '../engine/local-tables.js';
import { PageBudget, pageOf } from '../engine/pages.js';
import { boundsOf, isLast, isWithin } from '../rules/list-query.js';
import type { TaskQuery } from '../task-storage.js';
import { behindCursor, mergedDescending, olderCreation, olderStatus, timeOf } from './list-order.js';
import { SortedList } from './sorted-list.js';
import type { TaskEntry } from './task-entry.js';

/** Maximum number of changed tasks that are not yet moved in the lists. Bounds the work of one reader. */
const UNSETTLED = 256;

/** The tasks of one scope in the orders that lists ask for. */
export class TaskLists {
  readonly #byStatus = new SortedList<TaskEntry>(olderStatus);
  readonly #byState = new Map<TaskState, SortedList<TaskEntry>>();
  /** Built at the first read. */
  #byContext: Map<string, ContextTasks> | undefined;
  #byCreation: SortedList<TaskEntry> | undefined;
  #unsettled: TaskEntry[];

  constructor(tasks: Iterable<TaskEntry>) {
    this.#unsettled = [...tasks];
    this.#settle();
  }

  /** Marks a new task, or one whose status has changed. */
  touch(entry: TaskEntry): void {
    if (entry.isUnsettled) return;
    entry.isUnsettled = true;
    if (this.#unsettled.push(entry) > UNSETTLED) this.#settle();
  }

  remove(entry: TaskEntry): void {
    this.#settle();
    this.#unlist(entry);
    this.#byCreation?.remove(entry);
  }

  page(query: TaskQuery): LocalPage<TaskEntry> {
    this.#settle();
    const budget = new PageBudget(query.maxBytes);
    const { limit, offset = 0 } = query;
    const matching = this.#matching(query, { before: behindCursor(query), most: offset + limit + 1 });
    const page = pageOf(offset === 0 ? matching : matching.slice(offset), {
      limit,
      read: (entry) => {
        const { content } = entry;
        return budget.takes(content.bytesOf(entry, query))
          ? { head: entry, task: content.readPart(entry, query) }
          : 'no-room';
      },
      cursorOf: (entry) => ({ time: timeOf(entry, query.orderBy), id: entry.id }),
    });
    return { ...page, total: this.#total(query) };
  }

  /** The first matching tasks, newest first, at most `limit`. */
  #matching(
    query: TaskQuery,
    { before, most }: { readonly before: (entry: TaskEntry) => boolean; readonly most: number },
  ): readonly TaskEntry[] {
    const { states = [], orderBy } = query;
    const bounds = boundsOf(query);
    const found: TaskEntry[] = [];
    for (const entry of this.#walk(query, before)) {
      let isIn = states.length === 0 || states.includes(entry.state);
      for (const bound of bounds) {
        if (isWithin(bound, timeOf(entry, bound.time))) continue;
        if (isLast(bound, orderBy)) return found;
        isIn = false;
      }
      if (isIn && found.push(entry) >= most) break;
    }
    return found;
  }

  /** The tasks that may match, newest first. */
  #walk(query: TaskQuery, before: (entry: TaskEntry) => boolean): Iterable<TaskEntry> {
    const { contextId, states = [], orderBy } = query;
    if (contextId !== undefined) {
      const context = this.#contexts().get(contextId);
      if (context === undefined) return [];
      if (orderBy === 'status') return context.descending(before);
      return [...context.descending(() => true)].filter(before).sort((a, b) => olderCreation(b, a));
    }
    if (orderBy === 'created') return this.#inOrderOfCreation().descending(before);
    if (states.length === 0) return this.#byStatus.descending(before);
    const lists = [...new Set(states)].map((state) => this.#byState.get(state)?.descending(before) ?? []);
    return lists.length === 1 ? (lists[0] ?? []) : mergedDescending(lists, olderStatus);
  }

  #total(query: TaskQuery): number {
    const { contextId, states = [], statusAfter, createdAfter, createdBefore } = query;
    if (createdAfter !== undefined || createdBefore !== undefined) return this.#counted(query);
    if (statusAfter !== undefined) {
      if (contextId !== undefined) return this.#counted(query);
      const isOld = (entry: TaskEntry) => timeOf(entry, 'status') < statusAfter;
      if (states.length === 0) return this.#byStatus.size - this.#byStatus.count(isOld);
      return sum(states, (state) => {
        const list = this.#byState.get(state);
        return list === undefined ? 0 : list.size - list.count(isOld);
      });
    }
    if (contextId !== undefined) {
      const context = this.#contexts().get(contextId);
      if (context === undefined) return 0;
      return states.length === 0 ? context.size : sum(states, (state) => context.in(state));
    }
    if (states.length === 0) return this.#byStatus.size;
    return sum(states, (state) => this.#byState.get(state)?.size ?? 0);
  }

  #counted(query: TaskQuery): number {
    return this.#matching(query, { before: () => true, most: Number.POSITIVE_INFINITY }).length;
  }

  #inOrderOfCreation(): SortedList<TaskEntry> {
    if (this.#byCreation === undefined) {
      const list = new SortedList<TaskEntry>(olderCreation);
      for (const entry of [...this.#byStatus.ascending()].sort(olderCreation)) list.add(entry);
      this.#byCreation = list;
    }
    return this.#byCreation;
  }

  #contexts(): Map<string, ContextTasks> {
    if (this.#byContext === undefined) {
      this.#byContext = new Map();
      for (const entry of this.#byStatus.ascending()) addToContext(this.#byContext, entry);
    }
    return this.#byContext;
  }

  #settle(): void {
    const changed = this.#unsettled;
    this.#unsettled = [];
    for (const entry of changed) {
      entry.isUnsettled = false;
      if (entry.listed === undefined) this.#byCreation?.add(entry);
      this.#unlist(entry);
      entry.listed = { state: entry.state, time: entry.statusTime };
    }
    // In sorted order, most insertions are appends, which are much faster.
    for (const entry of changed.sort(olderStatus)) {
      this.#byStatus.add(entry);
      groupOf(this.#byState, entry.state, () => new SortedList<TaskEntry>(olderStatus)).add(entry);
      if (this.#byContext !== undefined) addToContext(this.#byContext, entry);
    }
  }

  #unlist(entry: TaskEntry): void {
    const { contextId, listed } = entry;
    if (listed === undefined) return;
    this.#byStatus.remove(entry);
    this.#byState.get(listed.state)?.remove(entry);
    if (contextId === undefined) return;
    const context = this.#byContext?.get(contextId);
    context?.remove(entry);
    if (context?.size === 0) this.#byContext?.delete(contextId);
  }
}

function addToContext(contexts: Map<string, ContextTasks>, entry: TaskEntry): void {
  const { contextId } = entry;
  if (contextId !== undefined) groupOf(contexts, contextId, () => new ContextTasks()).add(entry);
}

/** The group of a key. It is made if it is missing. */
export function groupOf<K, G>(groups: Map<K, G>, key: K, make: () => G): G {
  let group = groups.get(key);
  if (group === undefined) {
    group = make();
    groups.set(key, group);
  }
  return group;
}

function sum(states: readonly TaskState[], count: (state: TaskState) => number): number {
  let total = 0;
  for (const state of new Set(states)) total += count(state);
  return total;
}

/** The tasks of one context. Most contexts have a single task, which is stored without a list. */
class ContextTasks {
  #only: TaskEntry | undefined;
  #all: SortedList<TaskEntry> | undefined;
  #counts: Map<TaskState, number> | undefined;

  add(entry: TaskEntry): void {
    if (this.#all === undefined && this.#only === undefined) {
      this.#only = entry;
      return;
    }
    this.#all ??= new SortedList(olderStatus);
    this.#counts ??= new Map();
    if (this.#only !== undefined) {
      this.#all.add(this.#only);
      this.#count(this.#only, 1);
      this.#only = undefined;
    }
    this.#all.add(entry);
    this.#count(entry, 1);
  }

  remove(entry: TaskEntry): void {
    if (this.#only === entry) this.#only = undefined;
    else if (this.#all?.remove(entry)) this.#count(entry, -1);
  }

  get size(): number {
    return this.#all?.size ?? (this.#only === undefined ? 0 : 1);
  }

  /** Number of tasks in a state. */
  in(state: TaskState): number {
    if (this.#only !== undefined) return this.#only.listed?.state === state ? 1 : 0;
    return this.#counts?.get(state) ?? 0;
  }

  /** Tasks with the newest status first, from the first one for which `before` is true. */
  descending(before: (entry: TaskEntry) => boolean): Iterable<TaskEntry> {
    if (this.#all !== undefined) return this.#all.descending(before);
    return this.#only !== undefined && before(this.#only) ? [this.#only] : [];
  }

  #count(entry: TaskEntry, by: 1 | -1): void {
    if (entry.listed === undefined) return;
    const { state } = entry.listed;
    this.#counts?.set(state, (this.#counts.get(state) ?? 0) + by);
  }
}
