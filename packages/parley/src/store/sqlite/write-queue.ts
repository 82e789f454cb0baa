import type { WriteRequest } from './write-requests.js';

/** A request to queue, and the characters of all its texts. */
export interface Queued {
  readonly request: WriteRequest;
  readonly bytes: number;
}

/** A request with more text than this is large. */
const LARGE = 65_536;
/** Text of a batch at most. A single request may have more. */
const BATCH_BYTES = 4_194_304;

/**
 * Requests that wait for their batch. Large requests pass through a few at a time, and small ones do not wait
 * behind them. Requests on one task keep their order.
 */
export class WriteQueue<E extends Queued> {
  #small: E[] = [];
  #smallBytes = 0;
  #large: E[] = [];
  /** The tasks that the large requests write. */
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
   * Takes the next batch out: the small requests, then as many large ones as fit, but at least one. The batch is empty
   * if no request waits.
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

/** The first entries, as many as fit in a batch, and at least so many. */
function firstOf<E extends Queued>(entries: readonly E[], least: 0 | 1): E[] {
  let sum = 0;
  const end = entries.findIndex(({ bytes }, at) => {
    sum += bytes;
    return at >= least && sum > BATCH_BYTES;
  });
  return end < 0 ? [...entries] : entries.slice(0, end);
}

/** The characters of all texts of a request. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const member of Object.values(value)) bytes += bytesOf(member);
  return bytes;
}

/** The task that a request is about; "" if it is about none or several. */
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
