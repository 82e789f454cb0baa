import { StorageError } from '../../errors/storage-error.js';
import type { Lease } from '../held-turn.js';
import { type AcceptRequest, decideAccept, NO_TURNS, nextTurn, repeatedAccept } from '../rules/decide-accept.js';
import { hasConfigRoom } from '../rules/decide-delivery.js';
import { keyStanding } from '../rules/decide-key.js';
import type { KeyHead } from '../rules/key-head.js';
import type { AcceptedTurn, TaskHead } from '../rules/task-head.js';
import type { Acceptance } from '../task-storage.js';

/** The part of an acceptance that the engine reads. The tables read and write the content of the call. */
interface MessageRequest extends AcceptRequest {
  /** True for a message that creates a task. */
  readonly isNew: boolean;
  /** True if the node may repeat a call whose answer was lost. */
  readonly again: boolean;
  readonly hasKey: boolean;
  /** Set if the message contains a push configuration. */
  readonly config: { readonly id: string; readonly limit: number | undefined } | undefined;
}

/** Returns the part of an acceptance that the engine reads. */
export function messageRequest({ task, claim, ...more }: Acceptance): MessageRequest {
  const isNew = 'create' in task;
  const { pushConfig, pushConfigLimit, idempotency, waitingLimit, again } = more;
  return {
    isNew,
    contextId: isNew ? undefined : task.contextId,
    waitingLimit,
    claim,
    again: again === true,
    hasKey: idempotency !== undefined,
    config: pushConfig && { id: pushConfig.id ?? (isNew ? task.create.id : task.id), limit: pushConfigLimit },
  };
}

/** The number of push configurations of a task, and whether one has the id of the call. */
export interface ConfigCount {
  readonly count: number;
  readonly isKnown: boolean;
}

/** The tables that an acceptance writes. `Call` has the content of the message. All writes of one call are atomic. */
export interface MessageTables<Head extends TaskHead, Key extends KeyHead, Call> {
  /** The last waiting or running turn with the same message from the same caller. */
  sameTurn(head: Head, call: Call): number | undefined;
  key(call: Call): Key | undefined;
  countConfigs(head: Head, id: string): ConfigCount;
  /** Inserts a new task with its first turn. */
  create(call: Call, turn: AcceptedTurn, now: number): Head;
  addTurn(head: Head, turn: AcceptedTurn, call: Call, now: number): void;
  /** Inserts or replaces the configuration of the call. The queue of a new one begins after `position`. */
  putConfig(head: Head, call: Call, at: { readonly position: number; readonly now: number }): void;
  /** Stores the task as the outcome of the idempotency key of the call. Replaces `before`. */
  putKey(call: Call, outcome: { readonly turn: number; readonly now: number; readonly before: Key | undefined }): void;
}

/** A message, and the existing task with its id, if any. */
export interface MessageAt<Head, Call> {
  readonly head: Head | undefined;
  readonly request: MessageRequest;
  readonly call: Call;
}

/**
 * The answer to a message. `isClaimed`: the turn is claimed by the same commit. `isReady`: a node can claim a turn now.
 */
export type MessageAnswer<Head, Key> =
  | {
      readonly kind: 'accepted';
      readonly head: Head;
      readonly turn: number;
      readonly isClaimed: boolean;
      readonly isReady: boolean;
    }
  | { readonly kind: 'repeated'; readonly key: Key }
  | { readonly kind: 'terminal'; readonly head: Head }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'reserved' }
  | { readonly kind: 'other-context' | 'full' | 'configs-full' };

/** Accepts a message. Inserts its task if that is new. */
export function acceptMessage<Head extends TaskHead, Key extends KeyHead, Call>(
  tables: MessageTables<Head, Key, Call>,
  { head: found, request, call }: MessageAt<Head, Call>,
  now: number,
): MessageAnswer<Head, Key> {
  const { isNew, claim, config } = request;
  const earlier = request.again && found !== undefined ? acceptedBefore(tables, found, call, claim) : undefined;
  if (earlier !== undefined) return earlier;
  const key = request.hasKey ? tables.key(call) : undefined;
  if (key !== undefined) {
    const standing = keyStanding(key, claim?.node, now);
    if (standing === 'reserved') return { kind: 'reserved' };
    if (standing === 'known') return { kind: 'repeated', key };
  }
  let head = found;
  let accepted: AcceptedTurn;
  if (isNew) {
    if (found !== undefined) throw new StorageError('The id of the new task is taken');
    accepted = nextTurn(NO_TURNS, claim, now);
    head = tables.create(call, accepted, now);
  } else {
    const decision = decideAccept(head, request, now);
    if (head === undefined || decision.kind === 'not-found') return { kind: 'not-found' };
    if (decision.kind === 'terminal') return { kind: 'terminal', head };
    if (decision.kind !== 'accepted') return { kind: decision.kind };
    if (config !== undefined && !hasRoomFor(tables, head, config)) return { kind: 'configs-full' };
    accepted = decision;
    tables.addTurn(head, accepted, call, now);
  }
  const { turn } = accepted;
  if (config !== undefined) tables.putConfig(head, call, { position: isNew ? 0 : head.seq, now });
  if (request.hasKey) tables.putKey(call, { turn, now, before: key });
  return { kind: 'accepted', head, turn, isClaimed: accepted.attempts === 1, isReady: accepted.isReady };
}

/** Returns the answer to an accepted message whose first answer was lost. */
export function acceptedBefore<Head extends TaskHead, Call>(
  tables: { sameTurn(head: Head, call: Call): number | undefined },
  head: Head,
  call: Call,
  claim: Lease | undefined,
): Extract<MessageAnswer<Head, never>, { readonly kind: 'accepted' }> | undefined {
  const turn = tables.sameTurn(head, call);
  return turn === undefined ? undefined : { kind: 'accepted', head, ...repeatedAccept(head, turn, claim) };
}

/** True if a task can have the push configuration of this id. */
export function hasRoomFor<Head>(
  tables: { countConfigs(head: Head, id: string): ConfigCount },
  head: Head,
  { id, limit }: { readonly id: string; readonly limit: number | undefined },
): boolean {
  if (limit === undefined) return true;
  const { count, isKnown } = tables.countConfigs(head, id);
  return hasConfigRoom(isKnown, count, limit);
}
