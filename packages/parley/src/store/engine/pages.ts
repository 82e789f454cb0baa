/**
 * The budget for the JSON of one page, in bytes. The first item goes in at any size, so that a reader gets on. Without
 * a bound everything fits.
 */
export class PageBudget {
  readonly #max: number;
  #bytes: number | undefined;

  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  /** Takes an item in; false if the page ends before it. */
  takes(bytes: number): boolean {
    const sum = (this.#bytes ?? 0) + bytes;
    if (this.#bytes !== undefined && sum > this.#max) return false;
    this.#bytes = sum;
    return true;
  }
}

/** The bound for the JSON of one page of abandoned tasks. */
export const ABANDONED_BYTES = 8_388_608;

/** The first items, until they have so many bytes; at least one. */
export function firstBytes<Item>(items: Iterable<Item>, maxBytes: number, bytesOf: (item: Item) => number): Item[] {
  const budget = new PageBudget(maxBytes);
  const first: Item[] = [];
  for (const item of items) {
    if (!budget.takes(bytesOf(item))) break;
    first.push(item);
  }
  return first;
}

/** The choice of a page among entries in their order. */
interface PageChoice<Entry, Row, Cursor> {
  readonly limit: number;
  /** Reads an entry. `no-room`: the page ends before it. `undefined`: it is left out. */
  readonly read: (entry: Entry) => Row | 'no-room' | undefined;
  readonly cursorOf: (entry: Entry) => Cursor;
}

/** A page of entries. `next` is the cursor of the last entry, if another entry follows. */
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
