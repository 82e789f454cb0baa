import type { WriteRequest } from './write-requests.js';

/** A request to queue, and the length of all its texts. */
export interface Queued {
  readonly request: WriteRequest;
  readonly bytes: number;
}

/** Characters of text above which a request is large. */
const LARGE = 65_536;
/** Maximum characters of text in a batch. A single request may have more. */
const BATCH_BYTES = 4_194_304;

/**
 * Requests that wait for their batch. A batch has few large requests, so small ones do not wait for all of them.
 * Requests for one task keep their order.
 */
export class WriteQueue<E extends Queued> {
  #small: E[] = [];
  #smallBytes = 0;
  #large: E[] = [];
  /** The tasks that queued large requests write. */
  #tasks = new Set<string>();

  add(entry: E): void {
    const { request, bytes } = entry;
    const isBehind = this.#tasks.size > 0 && this.#tasks.has(taskOf(request));
    if (bytes > LARGE || isBehind) {
      this.#large.push(entry);
      this.#tasks.add(taskOf(request));
    } else {
      this.#small.push(entry);
      this.#smallBytes += bytes;
    }
  }

  /**
   * Removes and returns the next batch: the small requests, then as many large ones as fit, but at least one. Empty if
   * no request waits.
   */
  take(): readonly E[] {
    const isWhole = this.#smallBytes <= BATCH_BYTES;
    const small = isWhole ? this.#small : firstOf(this.#small, 0);
    this.#small = isWhole ? [] : this.#small.slice(small.length);
    this.#smallBytes -= isWhole ? this.#smallBytes : small.reduce((sum, { bytes }) => sum + bytes, 0);
    if (this.#large.length === 0) return small;
    const large = firstOf(this.#large, 1);
    this.#large = this.#large.slice(large.length);
    this.#tasks = new Set(this.#large.map(({ request }) => taskOf(request)));
    return [...small, ...large];
  }
}

/** Returns the first entries that fit in a batch, and at least `least`. */
function firstOf<E extends Queued>(entries: readonly E[], least: 0 | 1): E[] {
  let sum = 0;
  const end = entries.findIndex(({ bytes }, at) => {
    sum += bytes;
    return at >= least && sum > BATCH_BYTES;
  });
  return end < 0 ? [...entries] : entries.slice(0, end);
}

/** Returns the number of characters of all texts of a request. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const member of Object.values(value)) bytes += bytesOf(member);
  return bytes;
}

/** Returns the task that a request writes; "" for none or several. */
function taskOf(request: WriteRequest): string {
  switch (request[0]) {
    case 'accept':
      return `${request[3]} ${request[1][0]}`;
    case 'append':
      return `${request[2]} ${request[1][0]}`;
    case 'create':
    case 'delete':
    case 'cancel':
    case 'put-push-config':
    case 'delete-push-config':
      return `${request[1].taskId} ${request[1].scope[0]}`;
    case 'settle-delivery':
    case 'replay-delivery':
    case 'purge-delivery':
    case 'rewrite-config':
      return `${request[1].queue.taskId} ${request[1].queue.scope[0]}`;
    case 'begin':
    case 'release':
    case 'leave-aside':
    case 'checkpoint':
      return `${request[1].turn.taskId} ${request[1].turn.scope[0]}`;
    case 'claim':
    case 'claim-deliveries':
    case 'renew':
    case 'keep-leases':
    case 'reserve':
    case 'unreserve':
    case 'remember':
    case 'block-owner':
    case 'erase-owned':
    case 'scrub':
    case 'check':
    case 'sweep':
      return '';
  }
}
