import type { JsonValue } from '../../model/json.js';
import type { CancelRequest, Claim, ClaimRequest } from '../held-turn.js';
import { claimedBy, isClaimable } from '../rules/decide-lease.js';
import type { HeldNumbers, Holder, TaskHead } from '../rules/task-head.js';
import type { TaskKey } from '../task-key.js';

/** A task that may have a turn to claim. */
export interface ClaimablePlace {
  readonly key: TaskKey;
  readonly head: Pick<TaskHead, 'queue' | 'holder' | 'epoch'>;
  /** Approximate bytes of the task and its log in the storage. */
  readonly bytes: number;
}

/** The first turn of a task, held by a node. */
export interface ClaimedTurn {
  readonly turn: number;
  readonly epoch: number;
  readonly holder: Holder;
}

/** Claims the first turns of tasks in the given order. `more`: a limit ended the list. */
export function claimTurns<Place extends ClaimablePlace, Claim>(
  places: Iterable<Place>,
  {
    request,
    now,
    take,
  }: {
    readonly request: ClaimRequest;
    readonly now: number;
    /** Writes a claimed turn, and returns its claim. Undefined if it cannot be read. */
    readonly take: (place: Place, claimed: ClaimedTurn) => Claim | undefined;
  },
): { readonly claims: readonly Claim[]; readonly more: boolean } {
  const { limit, maxBytes = Number.POSITIVE_INFINITY, agents } = request;
  const chosen: (readonly [place: Place, turn: number])[] = [];
  let bytes = 0;
  let more = false;
  for (const place of places) {
    const { head, key } = place;
    const [first] = head.queue;
    if (first === undefined || !agents.includes(key.scope.agent)) continue;
    if (!isClaimable(head, request, { task: key, now })) continue;
    bytes += place.bytes;
    more = chosen.length >= limit || (chosen.length > 0 && bytes > maxBytes);
    if (more) break;
    chosen.push([place, first.turn]);
  }
  const claims = chosen.flatMap(([place, turn]) => {
    const claim = take(place, { turn, ...claimedBy(place.head, turn, { lease: request, now }) });
    return claim === undefined ? [] : [claim];
  });
  return { claims, more };
}

/** The content of a claimed turn, with the number of this attempt. */
export interface TurnContent extends Pick<Claim, 'attempt' | 'handOvers' | 'message' | 'caller'> {
  readonly checkpoint?: JsonValue | undefined;
  readonly cancel?: CancelRequest | undefined;
}

/** Returns the claim of a turn. `began`: the last turn of the task that wrote a record. */
export function claimOf(
  { scope, task, seq }: Pick<Claim, 'scope' | 'task' | 'seq'>,
  { turn, epoch, began }: HeldNumbers & Pick<TaskHead, 'began'>,
  { attempt, handOvers, message, caller, checkpoint, cancel }: TurnContent,
): Claim {
  const claim = { scope, task, seq, epoch, turn, attempt, handOvers, message, caller, began: began === turn };
  if (checkpoint === undefined && cancel === undefined) return claim;
  return { ...claim, ...(checkpoint !== undefined && { checkpoint }), ...(cancel !== undefined && { cancel }) };
}
