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

/** A lease for a node. A lease that has ended can be renewed as long as no node has taken the turn over. */
export interface Lease {
  /** Id of the process. */
  readonly node: string;
  /** The lease ends so long after its commit, by the storage's clock. */
  readonly leaseMs: number;
}

/** A node that asks for turns. */
export interface ClaimRequest extends Lease {
  readonly agents: readonly string[];
  /** Turns at most: the free slots of the node. */
  readonly limit: number;
  /**
   * About the most bytes of the turns in the storage, with the logs of their tasks. The first turn may be larger.
   * Default: no bound.
   */
  readonly maxBytes?: number;
  /** The only task to look at. */
  readonly task?: TaskKey;
  /**
   * The turns that the node knows it holds. A node takes back an ended lease of its own only if its turn is missing
   * here: the answer that gave the lease was lost. Absent: the node takes back none of its own leases.
   */
  readonly holds?: readonly HeldTurn[];
}

/** A turn to run, held by the node that claimed it until its lease ends. */
export interface Claim {
  readonly scope: Scope;
  /** The task before this turn's first record; after a takeover, with all that earlier attempts wrote. */
  readonly task: Task;
  readonly seq: number;
  readonly epoch: number;
  /** Counts the executions of the task, from 1. */
  readonly turn: number;
  /** 1 for the first attempt of the turn; counts the attempts in which its agent began, and this one. */
  readonly attempt: number;
  /** Count of attempts before this one that ended in an orderly hand-over. */
  readonly handOvers: number;
  readonly message: Message;
  readonly caller: CallerContext;
  /** True if an earlier attempt committed a record of this turn. */
  readonly began: boolean;
  readonly checkpoint?: JsonValue;
  /** Set if a caller asked to cancel. */
  readonly cancel?: CancelRequest;
}

/** The turns that a node got. */
export interface Claims {
  readonly claims: readonly Claim[];
  /** True if a limit cut the list short. */
  readonly more: boolean;
}

/** A request to cancel; its metadata enters the task with CANCELED. */
export interface CancelRequest {
  readonly metadata?: JsonObject;
}

/** The standing of a turn for the node that names it. */
export type Holding = { readonly held: false } | { readonly held: true; readonly cancel?: CancelRequest };

/**
 * The answer to the renewal of one turn. `unknown`: the storage could not renew it, for this reason, and says nothing
 * about its holder.
 */
export type Renewal = Holding | { readonly held: 'unknown'; readonly error: string };

/**
 * A way to give a turn up. `done`: the turn is over. The others leave it to be claimed. `again`: its attempt counts.
 * `handover`: its attempt was stopped in order to hand it over. `unbegun`: its agent never began.
 */
export type ReleaseHow = 'done' | 'again' | 'handover' | 'unbegun';

/** Two requests to cancel as one: the metadata of the later is merged over that of the earlier. */
export function mergeCancels(earlier: CancelRequest | undefined, later: CancelRequest): CancelRequest {
  if (earlier?.metadata === undefined) return later;
  if (later.metadata === undefined) return earlier;
  return { metadata: { ...earlier.metadata, ...later.metadata } };
}

/** The JSON of a stored turn. `null` stands for what is absent. */
export interface TurnTexts {
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

/** The content of a stored turn. */
export function parseTurn({
  message,
  caller,
  ...later
}: TurnTexts): Pick<Claim, 'message' | 'caller' | 'checkpoint' | 'cancel'> {
  const begun = { message: JSON.parse(message) as Message, caller: JSON.parse(caller) as CallerContext };
  return { ...begun, ...parseProgress(later) };
}

/** The part of a stored turn that later calls have written. */
export function parseProgress({
  checkpoint,
  cancel,
}: Pick<TurnTexts, 'checkpoint' | 'cancel'>): Pick<Claim, 'checkpoint' | 'cancel'> {
  return {
    ...(checkpoint !== null && { checkpoint: JSON.parse(checkpoint) as JsonValue }),
    ...(cancel !== null && { cancel: parseCancel(cancel) }),
  };
}

/** A stored request to cancel. A request that cannot be read cancels all the same, without its metadata. */
export function parseCancel(text: string): CancelRequest {
  try {
    return JSON.parse(text) as CancelRequest;
  } catch {
    return {};
  }
}
