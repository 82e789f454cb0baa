import type { OwnedTask, OwnedTaskPage, OwnedTaskRange } from './owner-storage.js';
import type { TaskKey } from './task-key.js';

/** The place of a task in a list of all owners. Tasks of the same time come in the order of their ties. */
export interface OwnedTaskPlace {
  /** ms since the epoch: the time of the status of an open task, or of the end of a finished one. */
  readonly time: number;
  readonly tie: string;
}

/** Returns the cursor of a place. */
export function cursorOfPlace({ time, tie }: OwnedTaskPlace): string {
  return `${time} ${tie}`;
}

/** Returns the place of a cursor. An invalid cursor gives an arbitrary place. */
export function placeOfCursor(cursor: string): OwnedTaskPlace {
  const [text = '', ...tie] = cursor.split(' ');
  const time = Number(text);
  return { time: Number.isSafeInteger(time) ? time : 0, tie: tie.join(' ') };
}

/** Returns the place of a cursor whose tie is a row number. Without a cursor: the place before all others. */
export function rowPlaceOf({ hasEnded, cursor }: OwnedTaskRange): { readonly time: number; readonly pk: number } {
  if (cursor === undefined) {
    const time = hasEnded ? Number.MAX_SAFE_INTEGER : -1;
    return { time, pk: time };
  }
  const { time, tie } = placeOfCursor(cursor);
  const pk = Number(tie);
  return { time, pk: Number.isSafeInteger(pk) ? pk : 0 };
}

/** A task with its place. Its tie is computed only if another task has the same time. */
class PlacedTask<Item> implements OwnedTaskPlace {
  readonly time: number;
  readonly item: Item;
  readonly #key: TaskKey;
  #tie: string | undefined;

  constructor(time: number, key: TaskKey, item: Item) {
    this.time = time;
    this.item = item;
    this.#key = key;
  }

  get tie(): string {
    const { scope, id } = this.#key;
    this.#tie ??= JSON.stringify([scope.agent, scope.tenant, scope.owner, id]);
    return this.#tie;
  }
}

/** The first tasks of a range, for a storage without an index of all tasks. The key of a task is its tie. */
export class FirstTasks<Item> {
  readonly #limit: number;
  /** -1 if the latest time comes first. */
  readonly #sign: 1 | -1;
  readonly #after: OwnedTaskPlace | undefined;
  #found: PlacedTask<Item>[] = [];
  /** The time of the last task of the page, once the page is full. */
  #last: number | undefined;

  constructor({ hasEnded, cursor, limit }: OwnedTaskRange) {
    this.#limit = limit;
    this.#sign = hasEnded ? -1 : 1;
    this.#after = cursor === undefined ? undefined : placeOfCursor(cursor);
  }

  /** True if a task of this time may belong to the page. */
  wants(time: number): boolean {
    return this.#last === undefined || (time - this.#last) * this.#sign <= 0;
  }

  /** Adds a task, in any order, once. Memory holds little more than the limit. */
  add(time: number, key: TaskKey, item: Item): void {
    if (!this.wants(time)) return;
    const placed = new PlacedTask(time, key, item);
    if (this.#after !== undefined && this.#compare(this.#after, placed) >= 0) return;
    this.#found.push(placed);
    if (this.#found.length > 2 * this.#limit + 100) this.#cut();
  }

  /** The tasks of the page, with their cursors. */
  get first(): readonly { readonly item: Item; readonly cursor: string }[] {
    this.#cut();
    return this.#found.map((placed) => ({ item: placed.item, cursor: cursorOfPlace(placed) }));
  }

  /** Returns the page. `taskOf` returns the fields of the task of an item. */
  pageOf(taskOf: (item: Item) => Omit<OwnedTask, 'cursor'>): OwnedTaskPage {
    const { first } = this;
    const tasks = first.map(({ item, cursor }) => ({ ...taskOf(item), cursor }));
    return { tasks, isLast: first.length < this.#limit };
  }

  #compare(one: OwnedTaskPlace, other: OwnedTaskPlace): number {
    const later = one.time - other.time || (one.tie < other.tie ? -1 : Number(one.tie > other.tie));
    return later * this.#sign;
  }

  #cut(): void {
    this.#found = this.#found.sort((one, other) => this.#compare(one, other)).slice(0, this.#limit);
    if (this.#found.length === this.#limit) this.#last = this.#found.at(-1)?.time;
  }
}
