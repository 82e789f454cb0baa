import type { StoredPushConfig } from '../push-storage.js';
import type { Scope } from '../task-key.js';
import type { WriteRequest } from './write-requests.js';

const MOST_KNOWN = 1_000;

/** Requests that change no push configuration. */
const KEEPING: ReadonlySet<WriteRequest[0]> = new Set([
  'append',
  'begin',
  'cancel',
  'check',
  'checkpoint',
  'claim',
  'claim-deliveries',
  'keep-leases',
  'leave-aside',
  'purge-delivery',
  'release',
  'remember',
  'renew',
  'replay-delivery',
  'reserve',
  'settle-delivery',
  'unreserve',
]);

/**
 * Cache of push configurations, because a sender reads one before each request. For a file that only this process
 * writes. Every write that may change a configuration empties it.
 */
export class KnownConfigs {
  readonly #known = new Map<string, StoredPushConfig>();

  /** Called after a batch is written, or has failed, and before its callers get their results. */
  readonly written = (requests: readonly WriteRequest[]): void => {
    if (this.#known.size > 0 && requests.some(mayChange)) this.#known.clear();
  };

  /** Returns a configuration, which `read` reads if it is not known. */
  config(
    { scope, taskId, id }: { readonly scope: Scope; readonly taskId: string; readonly id: string },
    read: () => StoredPushConfig | undefined,
  ): StoredPushConfig | undefined {
    const key = JSON.stringify([scope.agent, scope.tenant, scope.owner, taskId, id]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const config = read();
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    if (config !== undefined) this.#known.set(key, config);
    return config;
  }
}

function mayChange(request: WriteRequest): boolean {
  if (request[0] === 'accept') return request[9] !== null;
  return !KEEPING.has(request[0]);
}
