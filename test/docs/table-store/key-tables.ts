import {
  type IdempotencyKey,
  type KeyHead,
  type KeyToWrite,
  type LocalKeys,
  REMEMBERED_BYTES,
  REMEMBERED_LIMIT,
  REMEMBERED_SHARES,
  type Remembered,
  type Scope,
} from 'parley-a2a/storage-engine';
import { type KeyRow, nameOf, type Tables } from './rows.js';

/** A kept key that a call has found. */
export type KeptKey = KeyRow & KeyHead;

/** The table of idempotency keys. Over a limit the oldest go, first those of an owner who takes much of the room. */
export class KeyTables implements LocalKeys<KeptKey> {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  find(scope: Scope, key: string): KeptKey | undefined {
    const row = this.#tables.keys.get(nameOf(scope, key));
    if (row === undefined) return undefined;
    const isTaskGone = row.taskId !== null && this.#tables.tasks.get(nameOf(scope, row.taskId)) === undefined;
    return { ...row, isTaskGone };
  }

  put(scope: Scope, { key, digest, ttlMs, isLasting = false }: IdempotencyKey, write: KeyToWrite<KeptKey>): void {
    const { outcome, reservation, now, before } = write;
    if (before !== undefined) this.remove(before);
    const reply = outcome !== undefined && 'reply' in outcome ? JSON.stringify(outcome.reply) : null;
    const { taskId = null, turn = null } = outcome !== undefined && 'taskId' in outcome ? outcome : {};
    const bytes = 2 * key.length + (reply?.length ?? 0) + 200;
    if (bytes > REMEMBERED_BYTES) return;
    const name = nameOf(scope, key);
    const kept = { digest, expiresAt: now + ttlMs, isLasting, bytes, taskId, turn, reply, reservation };
    this.#tables.keys.put(name, { name, scope, key, ...kept });
    this.#makeRoom(name, isLasting);
  }

  remove({ name }: KeptKey): void {
    this.#tables.keys.delete(name);
  }

  digestOf({ digest }: KeptKey): string {
    return digest;
  }

  rememberedOf({ digest, taskId, turn, reply }: KeptKey): Remembered {
    if (reply !== null) return { digest, outcome: { reply: JSON.parse(reply) } };
    return { digest, outcome: { taskId: taskId ?? '', turn: turn ?? 0 } };
  }

  sweep(now: number, limit: number): number {
    const expired = this.#tables.keys.filter(({ expiresAt }) => expiresAt <= now).slice(0, Math.max(0, limit));
    for (const { name } of expired) this.#tables.keys.delete(name);
    return expired.length;
  }

  #makeRoom(name: string, lasting: boolean): void {
    for (;;) {
      const keys = this.#tables.keys.filter(({ isLasting }) => isLasting === lasting);
      if (shareOf(keys) <= 1) return;
      const others = keys.filter((key) => key.name !== name).sort((a, b) => a.expiresAt - b.expiresAt);
      const isLarge = ({ scope: { owner } }: KeyRow) =>
        shareOf(keys.filter(({ scope }) => scope.owner === owner)) > 1 / REMEMBERED_SHARES;
      const oldest = others.find(isLarge) ?? others[0];
      if (oldest === undefined) return;
      this.#tables.keys.delete(oldest.name);
    }
  }
}

/** The part of the room that keys take. */
function shareOf(keys: readonly KeyRow[]): number {
  return Math.max(keys.length / REMEMBERED_LIMIT, keys.reduce((sum, { bytes }) => sum + bytes, 0) / REMEMBERED_BYTES);
}
