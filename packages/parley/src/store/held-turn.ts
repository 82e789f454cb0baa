import type { JsonObject, JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Task } from '../model/task.js';
import type { CallerContext } from './caller-context.js';
import type { Scope, TaskKey } from './task-key.js';

/** A turn that a node holds. */
export interface HeldTurn {
  readonly key: TaskKey;
  readonly turn: number;
  readonly epoch: number;
}

/** A lease of a node. An expired lease can be renewed until another node claims the turn. */
export interface Lease {
  /** Id of the process. */
  readonly node: string;
  /** Duration of the lease in ms from its commit, by the storage's clock. */
  readonly leaseMs: number;
}

/** A request of a node for turns. */
export interface ClaimRequest extends Lease {
  readonly agents: readonly string[];
  /** Maximum number of turns: the free slots of the node. */
  readonly limit: number;
  /**
   * Approximate maximum of bytes of the turns in the storage, with the logs of their tasks. The first turn may be
   * larger.
   * Default: no maximum.
   */
  readonly maxBytes?: number;
  /** Claim only a turn of this task. */
  readonly task?: TaskKey;
  /**
   * The turns that the node already holds. It gets an expired lease of its own again only if the turn is missing here:
   * the answer that granted the lease was lost. Absent: the node gets none of its own leases again.
   */
  readonly holds?: readonly HeldTurn[];
}

/** A turn to run, held by the node until the end of its lease. */
export interface Claim {
  readonly scope: Scope;
  /** The task before the first record of this turn. After a takeover, it includes all records of earlier attempts. */
  readonly task: Task;
  readonly seq: number;
  readonly epoch: number;
  /** The number of this turn of the task, from 1. */
  readonly turn: number;
  /** 1 for the first attempt of the turn. Counts the attempts whose agent started, and this one. */
  readonly attempt: number;
  /** Number of earlier attempts that ended in an orderly hand-over. */
  readonly handOvers: number;
  readonly message: Message;
  readonly caller: CallerContext;
  /** True if an earlier attempt committed a record of this turn. */
  readonly began: boolean;
  readonly checkpoint?: JsonValue;
  /** Set if a caller has requested cancellation. */
  readonly cancel?: CancelRequest;
}

/** The turns that a node has claimed. */
export interface Claims {
  readonly claims: readonly Claim[];
  /** True if a limit ended the list. */
  readonly more: boolean;
}

/** A request to cancel. Its metadata is merged into the task when that becomes CANCELED. */
export interface CancelRequest {
  readonly metadata?: JsonObject;
}

/** The state of a turn for the node that claims to hold it. */
export type Holding = { readonly held: false } | { readonly held: true; readonly cancel?: CancelRequest };

/**
 * The answer to the renewal of one turn. `unknown`: the renewal failed with this error, and the node may still hold the
 * turn.
 */
export type Renewal = Holding | { readonly held: 'unknown'; readonly error: string };

/**
 * The reason of a release. `done`: the turn is over. All others leave the turn to be claimed. `again`: the attempt
 * counts.
 * `handover`: the attempt was stopped for an orderly hand-over. `unbegun`: its agent never started.
 */
export type ReleaseHow = 'done' | 'again' | 'handover' | 'unbegun';

/** Merges two requests to cancel. Metadata of the later one wins. */
export function mergeCancels(earlier: CancelRequest | undefined, later: CancelRequest): CancelRequest {
  if (earlier?.metadata === undefined) return later;
  if (later.metadata === undefined) return earlier;
  return { metadata: { ...earlier.metadata, ...later.metadata } };
}

/** The JSON of a stored turn. `null` means absent. */
export interface TurnTexts {
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

/** Parses the content of a stored turn. */
export function parseTurn({
  message,
  caller,
  ...later
}: TurnTexts): Pick<Claim, 'message' | 'caller' | 'checkpoint' | 'cancel'> {
  const begun = { message: JSON.parse(message) as Message, caller: JSON.parse(caller) as CallerContext };
  return { ...begun, ...parseProgress(later) };
}

/** Parses the part of a stored turn that changes after its acceptance. */
export function parseProgress({
  checkpoint,
  cancel,
}: Pick<TurnTexts, 'checkpoint' | 'cancel'>): Pick<Claim, 'checkpoint' | 'cancel'> {
  return {
    ...(checkpoint !== null && { checkpoint: JSON.parse(checkpoint) as JsonValue }),
    ...(cancel !== null && { cancel: parseCancel(cancel) }),
  };
}

/** Parses a stored request to cancel. An unreadable request still cancels, without its metadata. */
export function parseCancel(text: string): CancelRequest {
  try {
    return JSON.parse(text) as CancelRequest;
  } catch {
    return {};
  }
}
