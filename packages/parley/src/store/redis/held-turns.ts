import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { CancelRequest, HeldTurn, Holding, Lease, ReleaseHow, Renewal } from '../held-turn.js';
import { mergedCancel, parsedCancel } from '../held-turn.js';
import { decideCancel } from '../rules/decide-cancel.js';
import { releasedCounts } from '../rules/decide-lease.js';
import type { TaskKey } from '../task-key.js';
import type { CancelOutcome } from '../task-storage.js';
import type { RedisCalls } from './redis-calls.js';
import { headOf, type KnownHead, storedOf, type TaskContent } from './task-texts.js';

/** The answer about a turn: the turns of its task that wait, and whether the node holds it. */
type HeldAnswer = readonly [waiting: number, isHeld: 0 | 1, cancel: string | null | undefined];

type CancelAnswer =
  | readonly [now: string, head: KnownHead]
  | readonly [now: string, head: KnownHead, 1, earlier: string]
  | readonly [now: string, head: KnownHead, 0, content?: TaskContent];

/** Attempts to merge two requests to cancel while others arrive. */
const ATTEMPTS = 8;

/** The turns that nodes hold. */
export class HeldTurns {
  readonly #calls: RedisCalls;

  constructor(calls: RedisCalls) {
    this.#calls = calls;
  }

  async begin(turn: HeldTurn, attempt: number): Promise<Holding> {
    return holdingOf(await this.#change(turn, 'begin', attempt));
  }

  /** Each turn is a call of its own, so that a failure with one fails no other. */
  renew({ leaseMs, turns }: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]> {
    const failures: unknown[] = [];
    const renewals = turns.map((turn) =>
      this.#change(turn, 'renew', leaseMs).then(holdingOf, (error: unknown): Renewal => {
        failures.push(error);
        return { held: 'unknown', error: error instanceof Error ? error.message : String(error) };
      }),
    );
    return Promise.all(renewals).then((answers) => {
      // Nothing can be said about any turn: the storage itself has failed.
      if (failures.length > 0 && failures.length === turns.length) throw failures[0];
      return answers;
    });
  }

  async release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<number> {
    const counts = releasedCounts(how, turn.attempt);
    const [waiting] =
      counts === undefined
        ? await this.#change(turn, 'done')
        : await this.#change(turn, 'released', counts.attempts, counts.addedHandOvers);
    return waiting;
  }

  async saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    const [, isHeld] = await this.#change(turn, 'checkpoint', JSON.stringify(checkpoint));
    return isHeld === 1;
  }

  async requestCancel(key: TaskKey, request: CancelRequest): Promise<CancelOutcome> {
    const place = this.#calls.keys.ofTask(key);
    for (let attempt = 0, seen = '', asked = request; attempt < ATTEMPTS; attempt += 1) {
      const args = [place.name, JSON.stringify(asked), seen];
      const answer = await this.#calls.run<CancelAnswer>('cancel', place, args);
      const head = headOf(answer[1]);
      const decision = decideCancel(head);
      if (head === undefined || decision.kind === 'not-found') return { kind: 'not-found' };
      if (decision.kind === 'terminal') return { kind: 'terminal', state: head.state };
      if (answer[2] === 1) {
        seen = answer[3];
        asked = mergedCancel(parsedCancel(seen), request);
        continue;
      }
      const { turn } = decision;
      const requested = { kind: 'requested', seq: head.seq, ...(turn !== undefined && { turn }) } as const;
      const content = answer[3];
      if (content === undefined) return requested;
      return { ...requested, stored: storedOf(key, content, Number(answer[0])) };
    }
    throw new StorageError(`Other requests to cancel the task ${key.id} came ${ATTEMPTS} times: repeat the call`);
  }

  #change({ key, turn, epoch }: HeldTurn, step: string, ...values: readonly (string | number)[]): Promise<HeldAnswer> {
    const place = this.#calls.keys.ofTask(key);
    return this.#calls.run('held', place, [place.name, place.agent, step, turn, epoch, ...values]);
  }
}

function holdingOf([, isHeld, cancel]: HeldAnswer): Holding {
  if (isHeld === 0) return { held: false };
  return typeof cancel === 'string' ? { held: true, cancel: parsedCancel(cancel) } : { held: true };
}
