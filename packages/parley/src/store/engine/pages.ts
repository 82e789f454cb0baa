/**
 * The budget for the JSON of one page, in bytes. The first item fits at any size, so that every page makes progress.
 * Without a maximum everything fits.
 */
export class PageBudget {
  readonly #max: number;
  #bytes: number | undefined;

  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  /** Returns true and counts the item if it fits. False ends the page. */
  takes(bytes: number): boolean {
    const sum = (this.#bytes ?? 0) + bytes;
    if (this.#bytes !== undefined && sum > this.#max) return false;
    this.#bytes = sum;
    return true;
  }
}

/** The maximum of the JSON of one page of abandoned tasks, in bytes. */
export const ABANDONED_BYTES = 8_388_608;

/** Returns the first items, up to `maxBytes` in total; at least one. */
export function firstBytes<Item>(items: Iterable<Item>, maxBytes: number, bytesOf: (item: Item) => number): Item[] {
  const budget = new PageBudget(maxBytes);
  const first: Item[] = [];
  for (const item of items) {
    if (!budget.takes(bytesOf(item))) break;
    first.push(item);
  }
  return first;
}

/** Options of `pageOf`. */
interface PageChoice<Entry, Row, Cursor> {
  readonly limit: number;
  /** Reads an entry. `no-room`: the page ends before it. `undefined`: it is skipped. */
  readonly read: (entry: Entry) => Row | 'no-room' | undefined;
  readonly cursorOf: (entry: Entry) => Cursor;
}

/** Returns a page of entries. `next` is the cursor of the last entry, if more entries follow. */
export function pageOf<Entry, Row, Cursor>(
  entries: Iterable<Entry>,
  { limit, read, cursorOf }: PageChoice<Entry, Row, Cursor>,
): { readonly found: readonly Row[]; readonly next?: Cursor } {
  const found: Row[] = [];
  let passed = 0;
  let last: Entry | undefined;
  for (const entry of entries) {
    const row = passed < limit ? read(entry) : 'no-room';
    if (row === 'no-room') return { found, ...(last !== undefined && { next: cursorOf(last) }) };
    if (row !== undefined) found.push(row);
    passed += 1;
    last = entry;
  }
  return { found };
}
