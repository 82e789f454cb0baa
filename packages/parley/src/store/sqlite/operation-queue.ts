import type { Operation } from './operations.js';

/** A queued operation. */
export interface Queued {
  readonly operation: Operation;
}

interface Sized<E> {
  readonly entry: E;
  readonly bytes: number;
}

/** An operation with more text than this is large. */
const LARGE = 65_536;
/** Text of a batch at most. A single operation may have more. */
const BATCH_BYTES = 4_194_304;

/**
 * Operations that wait for their batch. Large operations pass through a few at a time, and small ones do not wait
 * behind them. Operations on one task keep their order.
 */
export class OperationQueue<E extends Queued> {
  #small: Sized<E>[] = [];
  #smallBytes = 0;
  #large: Sized<E>[] = [];
  /** The tasks that the large operations write. */
  #tasks = new Set<string>();

  get isEmpty(): boolean {
    return this.#small.length === 0 && this.#large.length === 0;
  }

  add(entry: E): void {
    const { operation } = entry;
    const bytes = bytesOf(operation);
    const isBehind = this.#tasks.size > 0 && this.#tasks.has(taskOf(operation));
    if (bytes > LARGE || isBehind) {
      this.#large.push({ entry, bytes });
      this.#tasks.add(taskOf(operation));
    } else {
      this.#small.push({ entry, bytes });
      this.#smallBytes += bytes;
    }
  }

  /** Takes the next batch out: the small operations, then as many large ones as fit, but at least one. */
  take(): readonly E[] {
    const small = this.#takeSmall();
    if (this.#large.length === 0) return small;
    let bytes = 0;
    const end = this.#large.findIndex((sized, at) => {
      bytes += sized.bytes;
      return at > 0 && bytes > BATCH_BYTES;
    });
    const large = this.#large.splice(0, end < 0 ? this.#large.length : end);
    this.#tasks = new Set(this.#large.map(({ entry }) => taskOf(entry.operation)));
    return [...small, ...large.map(({ entry }) => entry)];
  }

  #takeSmall(): E[] {
    let end = this.#small.length;
    if (this.#smallBytes > BATCH_BYTES) {
      let bytes = 0;
      end = this.#small.findIndex((sized) => {
        bytes += sized.bytes;
        return bytes > BATCH_BYTES;
      });
    }
    const taken = end === this.#small.length ? this.#small : this.#small.slice(0, end);
    this.#small = end === this.#small.length ? [] : this.#small.slice(end);
    for (const { bytes } of taken) this.#smallBytes -= bytes;
    return taken.map(({ entry }) => entry);
  }
}

/** The characters of all texts of an operation. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 0;
  let bytes = 0;
  for (const member of value as readonly unknown[]) bytes += bytesOf(member);
  return bytes;
}

/** The task that an operation is about; "" if it is about none or several. */
function taskOf(operation: Operation): string {
  switch (operation[0]) {
    case 'accept':
    case 'create':
    case 'delete':
      return `${operation[3]} ${operation[1][0]}`;
    case 'cancel':
    case 'put-push-config':
    case 'delete-push-config':
      return `${operation[2]} ${operation[1][0]}`;
    case 'append':
      return `${operation[2]} ${operation[1]}`;
    case 'release':
    case 'leave-aside':
    case 'checkpoint':
      return `${operation[1][1]} ${operation[1][0]}`;
    default:
      return '';
  }
}
