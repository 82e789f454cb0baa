import { A2AError } from '../../errors/a2a-error.js';
import type { Task } from '../../model/task.js';
import type { FullPlaces, KeyedPlacesOptions } from '../../runtime/keyed-places.js';
import { attempt } from '../../runtime/settled.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { Lease } from '../../store/held-turn.js';
import type { IdempotencyKey, Remembered } from '../../store/idempotency-keys.js';
import type { Scope } from '../../store/task-key.js';
import type { Idempotency } from '../idempotency.js';
import { type Draft, OvertakenDraftError } from './draft.js';
import type { EngineContext } from './engine-context.js';
import type { IntakeOptions, ReceivedMessage, Submission } from './message-intake.js';
import type { RunningTurns } from './running-turns.js';
import { closingError } from './unavailable-errors.js';

/** Delay in ms before a message is retried that was refused because of other messages. */
export const BUSY_RETRY_MS = 1_000;
/** Poll interval in ms for a key that another process has reserved. */
const RESERVED_LOOK_MS = 250;

/**
 * The key of a message whose agent decides. It is reserved, extended and released under the same lease, because the
 * process may get a new id in the meantime.
 */
interface ReservedKey {
  readonly scope: Scope;
  readonly key: IdempotencyKey;
  readonly lease: Lease;
}

/**
 * Accepts messages whose agent decides whether they become tasks. The agent runs once for a message and its repeats.
 */
export class DraftIntake {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;
  readonly #idempotency: Idempotency;
  /** Replies in progress, for repeats that arrive before the first one is answered. */
  readonly #pending = new TransientMap<string, { digest: string; result: Promise<Submission> }>();

  constructor(context: EngineContext, { turns, idempotency }: Pick<IntakeOptions, 'turns' | 'idempotency'>) {
    this.#context = context;
    this.#turns = turns;
    this.#idempotency = idempotency;
  }

  /** Answers a repeat that arrives during the first call with the answer of that call. */
  async decideOnce(
    received: ReceivedMessage,
    task: Task & { readonly contextId: string },
    key: IdempotencyKey,
  ): Promise<Submission> {
    const { tenant, owner } = received.scope;
    const place = JSON.stringify([tenant, owner, key.key]);
    const running = this.#pending.get(place);
    if (running) {
      this.#idempotency.check(running, key);
      const first = await running.result;
      return first.kind === 'turn' ? { kind: 'repeat', taskId: first.claim?.task.id ?? '', turn: first.turn } : first;
    }
    // After an early error, repeats get the same error until the outcome is known: the agent runs once.
    const { promise: result, resolve, reject } = Promise.withResolvers<Submission>();
    this.#pending.set(place, { digest: key.digest, result });
    this.#recallOrDecide(received, { task, key, overdue: reject })
      .finally(() => this.#pending.delete(place))
      .then(resolve, reject);
    return result;
  }

  /** A process that has lost its reservation answers with the outcome of the process that now has it. */
  async #recallOrDecide(
    received: ReceivedMessage,
    { task, key, overdue }: Required<Pick<Draft, 'task' | 'overdue'>> & { readonly key: IdempotencyKey },
  ): Promise<Submission> {
    const { storage } = this.#context;
    const { scope } = received;
    let isTold = false;
    const tellOverdue = (error: A2AError) => {
      isTold = true;
      overdue(error);
    };
    for (;;) {
      const { lease } = this.#context.node;
      const reserved = { scope, key, lease };
      const first = storage.shared ? await this.#reserve(reserved) : await storage.keys.recall(scope, key.key);
      if (first) {
        this.#idempotency.check(first, key);
        return repeat(first);
      }
      const reservation = storage.shared ? this.#keepReserved(reserved) : undefined;
      try {
        const submission = await this.decide(received, {
          task,
          overdue: tellOverdue,
          ...(storage.shared && { reservation: lease }),
        });
        if (submission.kind !== 'reply') return submission;
        return repeat(await storage.keys.remember(scope, key, submission.message));
      } catch (error) {
        await reservation?.giveBack();
        // A caller that has already got an error does not wait for another process.
        if (isTold || !(error instanceof OvertakenDraftError)) throw error;
      } finally {
        reservation?.end();
      }
    }
  }

  /** Reserves a key, or waits while another process has it reserved. Resolves to the outcome, if it is known. */
  async #reserve({ scope, key, lease }: ReservedKey): Promise<Remembered | undefined> {
    const { storage, clock } = this.#context;
    for (;;) {
      const reservation = await storage.keys.reserve(scope, key, lease);
      if (reservation.kind === 'known') return reservation.first;
      if (reservation.kind === 'reserved') return undefined;
      this.#idempotency.check(reservation, key);
      if (this.#turns.closing) throw closingError();
      await new Promise<void>((resolve) => void clock.after(RESERVED_LOOK_MS, resolve));
    }
  }

  /** Extends a reservation while its agent decides. `giveBack`: releases it without an outcome. */
  #keepReserved({ scope, key, lease }: ReservedKey): { end(): void; giveBack(): Promise<void> } {
    const { storage, clock, limits } = this.#context;
    const unreserve = () => attempt(() => storage.keys.unreserve(scope, key.key, lease.node));
    let isOver = false;
    let stopTimer: (() => void) | undefined;
    const next = () => {
      stopTimer = clock.after(limits.leaseRenewalMs, () => {
        attempt(() => storage.keys.reserve(scope, key, lease))
          // The key may have been released during this call.
          .then(() => (isOver ? unreserve() : undefined))
          .catch(ignore)
          .finally(() => isOver || next());
      });
    };
    const end = () => {
      isOver = true;
      stopTimer?.();
    };
    next();
    return {
      end,
      giveBack: () => {
        // An extension after this call would reserve the key anew.
        end();
        return unreserve().catch(ignore);
      },
    };
  }

  /**
   * Runs the agent on the message.
   * @throws A2AError if no turn is free, or the server is closing.
   */
  decide(
    received: ReceivedMessage,
    { task, overdue, reservation }: Pick<Draft, 'task' | 'overdue' | 'reservation'>,
  ): Promise<Submission> {
    const { turnPlaces } = this.#context;
    const { scope, message, caller, callerKey, key, pushConfig } = received;
    if (this.#turns.closing) throw closingError();
    const full = turnPlaces.full(callerKey);
    if (full !== undefined) throw tooManyTurns(full, turnPlaces.limits);
    const opening = Promise.withResolvers<Submission>();
    const draft = {
      scope,
      message,
      caller,
      callerKey,
      task,
      opening,
      ...(pushConfig && { pushConfig }),
      ...(key && { idempotency: key }),
      ...(reservation && { reservation }),
      ...(overdue && { overdue }),
    };
    this.#turns.enter({ draft }).advance('run');
    return opening.promise;
  }
}

/** Returns the error for a message without a free turn. */
export function tooManyTurns(full: FullPlaces, { perKey, total }: KeyedPlacesOptions): A2AError {
  const message =
    full === 'key'
      ? `Too many turns: ${perKey} of this caller run. Wait until one of them ends`
      : `Too many turns: ${total} run on this server. Try again later`;
  return new A2AError('RESOURCE_EXHAUSTED', message, { metadata: { limit: 'turns' }, retryAfterMs: BUSY_RETRY_MS });
}

/** A reservation that is not extended or released ends with its lease. */
function ignore(): void {}

/** Returns the outcome of the first message for a repeat. */
export function repeat({ outcome }: Remembered): Submission {
  if ('reply' in outcome) return { kind: 'reply', message: outcome.reply };
  return { kind: 'repeat', taskId: outcome.taskId, turn: outcome.turn };
}
