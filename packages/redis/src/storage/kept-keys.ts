import {
  type Clock,
  type IdempotencyKey,
  type IdempotencyKeys,
  type KeyAnswer,
  keyIfKnown,
  type Lease,
  type Message,
  OwnerBlockedError,
  type Remembered,
  type Reservation,
  rememberKey,
  repeatCall,
  reserveKey,
  type Scope,
  type SharedKey,
} from 'parley-a2a/storage-engine';
import type { OpenCalls } from './open-calls.js';
import type { RedisCalls } from './redis-calls.js';
import { taskKeyOf } from './redis-keys.js';

/** An idempotency key as returned by the scripts. `lease` is -1 for a known outcome. */
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

/** Returns an idempotency key in the form of the engine. */
export function sharedKeyOf([
  expires,
  lease,
  node,
  digest,
  task,
  turn,
  reply,
  version,
  isTaskGone,
]: KeptKey): SharedKey {
  const reservation = lease === '-1' ? undefined : { node, leaseEnd: Number(lease) };
  const outcome =
    reply !== null
      ? { reply: JSON.parse(reply) as Message }
      : task !== null && { taskId: taskKeyOf(task).id, turn: Number(turn) };
  return {
    expiresAt: Number(expires),
    reservation,
    isTaskGone: isTaskGone === 1,
    version,
    digest,
    remembered: outcome ? { digest, outcome } : undefined,
  };
}

/** The values of a key for the script. */
interface WrittenKey {
  readonly lease: Lease | undefined;
  readonly reply: string;
}

/** The idempotency keys in Redis. */
export class KeptKeys implements IdempotencyKeys {
  readonly #calls: RedisCalls;
  readonly #open: OpenCalls;
  readonly #clock: Clock;

  constructor(calls: RedisCalls, open: OpenCalls, clock: Clock) {
    this.#calls = calls;
    this.#open = open;
    this.#clock = clock;
  }

  reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation> {
    return this.#open.run(async () => {
      const answer = await this.#write(scope, key, { lease, reply: '' }, (kept, now, write) =>
        reserveKey(kept, { node: lease.node, now, write }),
      );
      if (answer.kind === 'written') return { kind: 'reserved' };
      if (answer.kind === 'known') return { kind: 'known', first: outcomeOf(answer.key) };
      return { kind: 'taken', digest: answer.key.digest };
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
      const row = { lease: undefined, reply: JSON.stringify(reply) };
      const answer = await this.#write(scope, key, row, (kept, now, write) => rememberKey(kept, { now, write }));
      return answer.kind === 'known' ? outcomeOf(answer.key) : { digest: key.digest, outcome: { reply } };
    });
  }

  recall(scope: Scope, key: string): Promise<Remembered | undefined> {
    return this.#open.run(async () => {
      const place = this.#calls.keys.ofKey(scope, key);
      const [now, kept] = await this.#calls.run<[string, KeptKey | null]>('readKey', place, [place.scope, place.text]);
      return keyIfKnown(kept === null ? undefined : sharedKeyOf(kept), Number(now))?.remembered;
    });
  }

  /**
   * Lets the engine decide about a key, and repeats that if the key has changed before the write. Most keys are new.
   */
  #write(
    scope: Scope,
    { key, ttlMs, digest }: IdempotencyKey,
    { lease, reply }: WrittenKey,
    decide: (
      kept: SharedKey | undefined,
      now: number,
      write: (before: SharedKey | undefined) => void,
    ) => KeyAnswer<SharedKey>,
  ): Promise<KeyAnswer<SharedKey>> {
    const place = this.#calls.keys.ofKey(scope, key);
    let kept: SharedKey | undefined;
    let now = 0;
    return repeatCall(this.#clock, 'An idempotency key', async () => {
      let seen: string | undefined;
      const decided = decide(kept, now, (before) => {
        seen = before?.version ?? '';
      });
      if (seen === undefined) return decided;
      const args = [place.scope, place.text, ttlMs, digest, lease?.node ?? '', lease?.leaseMs ?? '', reply, seen];
      const answer = await this.#calls.run<[string, (KeptKey | null)?] | null>('writeKey', place, args);
      if (answer === null) return decided;
      if (answer[1] === undefined) throw new OwnerBlockedError();
      now = Number(answer[0]);
      kept = answer[1] === null ? undefined : sharedKeyOf(answer[1]);
      return undefined;
    });
  }
}

function outcomeOf({ remembered }: SharedKey): Remembered {
  if (remembered === undefined) throw new TypeError('A reserved key has no outcome');
  return remembered;
}
