import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import type { Message } from '../../model/message.js';
import type { Lease } from '../held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../idempotency-keys.js';
import { type KeyStanding, keyStanding } from '../rules/decide-key.js';
import type { Scope } from '../task-key.js';
import type { OpenCalls } from './open-calls.js';
import type { RedisCalls } from './redis-calls.js';
import { taskKeyOf } from './redis-keys.js';

/** An idempotency key as the scripts answer it. `lease` is -1 for a known outcome. */
export type KeptKey = readonly [
  expires: string,
  lease: string,
  node: string,
  digest: string,
  task: string | null,
  turn: string | null,
  reply: string | null,
  version: string,
  isTaskGone: 0 | 1,
];

/** Attempts of a decision while other calls change its key. */
const ATTEMPTS = 8;

/** The standing of a kept key for a node. */
export function standingOf(kept: KeptKey | null, node: string | undefined, now: number): KeyStanding {
  if (kept === null) return 'free';
  const [expires, lease, holder, , , , , , isTaskGone] = kept;
  const reservation = lease === '-1' ? undefined : { node: holder, leaseEnd: Number(lease) };
  return keyStanding({ expiresAt: Number(expires), reservation, isTaskGone: isTaskGone === 1 }, node, now);
}

/** The known outcome of a key. */
export function rememberedOf([, , , digest, task, turn, reply]: KeptKey): Remembered {
  if (reply !== null) return { digest, outcome: { reply: JSON.parse(reply) as Message } };
  if (task === null) throw new TypeError('A reserved key has no outcome');
  return { digest, outcome: { taskId: taskKeyOf(task).id, turn: Number(turn) } };
}

/** The idempotency keys in Redis. */
export class KeptKeys implements IdempotencyKeys {
  readonly #calls: RedisCalls;
  readonly #open: OpenCalls;

  constructor(calls: RedisCalls, open: OpenCalls) {
    this.#calls = calls;
    this.#open = open;
  }

  reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation> {
    return this.#open.run(async () => {
      const kept = await this.#write(scope, key, { lease, reply: '' });
      if (kept === undefined) return { kind: 'reserved' };
      if (kept.standing === 'known') return { kind: 'known', first: rememberedOf(kept.key) };
      return { kind: 'taken', digest: kept.key[3] };
    });
  }

  unreserve(scope: Scope, key: string, node: string): Promise<void> {
    return this.#open.run(async () => {
      const place = this.#calls.keys.ofKey(scope, key);
      await this.#calls.run('unreserve', place, [place.scope, place.text, node]);
    });
  }

  remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered> {
    return this.#open.run(async () => {
      const kept = await this.#write(scope, key, { lease: undefined, reply: JSON.stringify(reply) });
      return kept?.standing === 'known' ? rememberedOf(kept.key) : { digest: key.digest, outcome: { reply } };
    });
  }

  recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    return this.#open.run(async () => {
      const place = this.#calls.keys.ofKey(scope, key);
      const [now, kept] = await this.#calls.run<[string, KeptKey | null]>('readKey', place, [place.scope, place.text]);
      return kept !== null && standingOf(kept, undefined, Number(now)) === 'known' ? rememberedOf(kept) : undefined;
    });
  }

  /** Writes a key that is free. A reply overrides a reservation. Otherwise the key as it stands. */
  async #write(
    scope: Scope,
    { key, ttlMs, digest }: IdempotencyKey,
    { lease, reply }: { readonly lease: Lease | undefined; readonly reply: string },
  ): Promise<{ readonly standing: KeyStanding; readonly key: KeptKey } | undefined> {
    const place = this.#calls.keys.ofKey(scope, key);
    for (let attempt = 0, seen = ''; attempt < ATTEMPTS; attempt += 1) {
      const args = [place.scope, place.text, ttlMs, digest, lease?.node ?? '', lease?.leaseMs ?? '', reply, seen];
      const answer = await this.#calls.run<[string, KeptKey?] | null>('writeKey', place, args);
      if (answer === null) return undefined;
      const [now, kept] = answer;
      if (kept === undefined) throw new OwnerBlockedError();
      const standing = standingOf(kept, lease?.node, Number(now));
      const isFree = standing === 'free' || (lease === undefined && standing === 'reserved');
      if (!isFree) return { standing, key: kept };
      seen = kept[7];
    }
    throw new StorageError(`The idempotency key changed ${ATTEMPTS} times while it was written: repeat the call`);
  }
}
