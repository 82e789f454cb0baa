import type { QueueWritten } from '../engine/delivery-queues.js';
import type { ErasedPart } from '../engine/erase-owned.js';
import type { HeldTurn, ReleaseHow } from '../held-turn.js';
import type { OwnerQuery } from '../owner-query.js';
import type { ConfigPut, DeliveryOutcome } from '../push-storage.js';
import type { Retention, StorageLoad, Swept } from '../task-storage.js';

/**
 * A request of the main thread to the writer: its kind, and its fields. Large values are JSON. The two most frequent
 * requests are flat tuples, which take a third less time to copy between threads than named fields.
 */
export type WriteRequest =
  | AcceptWrite
  | AppendWrite
  | ClaimWrite
  | BeginWrite
  | RenewWrite
  | ReleaseWrite
  | LeaveAsideWrite
  | KeepLeasesWrite
  | CheckpointWrite
  | CancelWrite
  | CreateWrite
  | DeleteWrite
  | ReserveWrite
  | UnreserveWrite
  | RememberWrite
  | PutPushConfigWrite
  | DeletePushConfigWrite
  | RewriteConfigWrite
  | ClaimDeliveriesWrite
  | SettleDeliveryWrite
  | ReplayDeliveryWrite
  | PurgeDeliveryWrite
  | BlockOwnerWrite
  | EraseOwnedWrite
  | ScrubWrite
  | CheckWrite
  | SweepWrite;

/** The fields of a scope as a tuple. */
export type ScopeFields = readonly [agent: string, tenant: string, owner: string | null];

/** The insert of a task with its first record. */
export type NewTaskFields = readonly [
  contextId: string | null,
  state: number,
  statusTime: number,
  status: string,
  metadata: string | null,
  /** Only for a finished task. */
  history: string | null,
  artifacts: string | null,
  isContextNew: boolean,
  event: string,
];

/** A turn that a node holds, or assumes to hold. */
export interface HeldFields {
  readonly scope: ScopeFields;
  readonly taskId: string;
  readonly turn: number;
  readonly epoch: number;
}

/** A row of a key, without its scope. */
export interface KeyRow {
  readonly key: string;
  readonly expiresAt: number;
  readonly digest: string;
  readonly task: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
  /** The node that has reserved the key, and the end of its lease. */
  readonly node: string | null;
  readonly leaseEnd: number | null;
  /** 1 for a key with limits separate from those of messages. */
  readonly lasting: 0 | 1;
}

/** Accept a message. */
export type AcceptWrite = readonly [
  'accept',
  scope: ScopeFields,
  now: number,
  taskId: string,
  create: NewTaskFields | null,
  /** The context that the caller named. */
  contextId: string | null,
  message: string,
  caller: string,
  claim: readonly [node: string, leaseMs: number] | null,
  pushConfig: readonly [id: string, config: string, limit: number | null] | null,
  idempotency: readonly [key: string, expiresAt: number, digest: string, lasting: KeyRow['lasting']] | null,
  waitingLimit: number,
  again: boolean,
];
/** The turn of a message, or the reason of its refusal; `epoch` is set if the turn was claimed. */
export type AcceptResult =
  /** `isReady`: a node can claim a turn of the task now. */
  | readonly ['accepted', turn: number, seq: number, epoch: number | null, isReady: boolean]
  | readonly ['repeated', digest: string, taskId: string | null, turn: number | null, reply: string | null]
  | readonly ['terminal', state: number]
  | readonly ['not-found' | 'other-context' | 'full' | 'configs-full' | 'reserved' | 'blocked'];

/** Append records to the log of a task. */
export type AppendWrite = readonly [
  'append',
  scope: ScopeFields,
  taskId: string,
  now: number,
  authority: number | 'idle' | 'force',
  after: number,
  state: number,
  statusTime: number,
  status: string,
  metadata: string | null,
  snapshot: readonly [history: string | null, artifacts: string | null] | null,
  endsTurn: number | null,
  rows: readonly RecordRowFields[],
  checkpoint: string | null,
];
/** Records that share a row; see record-rows.ts. */
export type RecordRowFields = readonly [
  turn: number,
  records: number,
  event: string,
  history: string | null,
  metadata: string | null,
];
/** The answer to an append. */
export type AppendResult =
  /** `isDue`: a delivery became due. `isReady`: a node can claim a turn of the task now. */
  | readonly ['appended', waiting: number, isDue?: boolean, isReady?: boolean]
  | readonly ['fenced' | 'running' | 'terminal' | 'not-found'];

/** Claim turns that no node holds. */
export type ClaimWrite = readonly [
  'claim',
  {
    readonly now: number;
    readonly node: string;
    readonly leaseMs: number;
    readonly agents: readonly string[];
    readonly limit: number;
    readonly maxBytes: number;
    readonly task: readonly [scope: ScopeFields, id: string] | null;
    readonly holds: readonly HeldTurn[] | undefined;
  },
];
/** A claimed turn with its texts; the task is read by another thread. */
export interface ClaimedTurn extends HeldFields {
  readonly attempt: number;
  readonly handOvers: number;
  /** The last turn of the task that wrote a record. */
  readonly began: number;
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

/** Count an attempt of a turn at its start. */
export type BeginWrite = readonly ['begin', { readonly turn: HeldFields; readonly attempt: number }];
/** Extend leases. */
export type RenewWrite = readonly [
  'renew',
  { readonly now: number; readonly leaseMs: number; readonly turns: readonly HeldFields[] },
];
/** The claimed turns, and whether a limit ended the list. */
export interface ClaimResult {
  readonly turns: readonly ClaimedTurn[];
  readonly more: boolean;
}
/** The result for each turn; `undefined` if its row is damaged. */
export type RenewResult = readonly (HeldResult | undefined)[];
/** `false` if the node no longer holds the turn, or the request to cancel, if any. */
export type HeldResult = string | null | false;

/** Release a turn. */
export type ReleaseWrite = readonly [
  'release',
  { readonly turn: HeldFields; readonly attempt: number; readonly how: ReleaseHow },
];
/** Release a turn that cannot be read. */
export type LeaveAsideWrite = readonly ['leave-aside', { readonly turn: HeldFields; readonly reason: string }];
/** End the leases of all other nodes. */
export type KeepLeasesWrite = readonly ['keep-leases', nodes: readonly string[]];
/** Store a value for the next attempt. */
export type CheckpointWrite = readonly ['checkpoint', { readonly turn: HeldFields; readonly checkpoint: string }];
/** Request the cancellation of a task. */
export type CancelWrite = readonly [
  'cancel',
  { readonly scope: ScopeFields; readonly now: number; readonly taskId: string; readonly request: string },
];
/** The answer to a request to cancel. */
export type CancelResult =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'requested'; readonly seq: number; readonly turn: number | undefined; readonly running: boolean }
  | { readonly kind: 'terminal'; readonly state: number };

/** Insert a task from outside of a message. */
export type CreateWrite = readonly [
  'create',
  { readonly scope: ScopeFields; readonly now: number; readonly taskId: string; readonly task: NewTaskFields },
];
/** Delete a task. */
export type DeleteWrite = readonly [
  'delete',
  { readonly scope: ScopeFields; readonly now: number; readonly taskId: string },
];
/** Reserve a key for a node. */
export type ReserveWrite = readonly [
  'reserve',
  {
    readonly scope: ScopeFields;
    readonly now: number;
    readonly key: string;
    readonly expiresAt: number;
    readonly digest: string;
    readonly node: string;
    readonly leaseMs: number;
    readonly lasting: KeyRow['lasting'];
  },
];
/** The answer to a node that wants to write a key. */
export type KeyResult =
  | { readonly kind: 'written' | 'blocked' }
  | { readonly kind: 'known' | 'reserved'; readonly row: KeyRow };
/** Delete a reservation. */
export type UnreserveWrite = readonly [
  'unreserve',
  { readonly scope: ScopeFields; readonly key: string; readonly node: string },
];
/** Store a direct reply under a key. */
export type RememberWrite = readonly [
  'remember',
  {
    readonly scope: ScopeFields;
    readonly now: number;
    readonly key: string;
    readonly expiresAt: number;
    readonly digest: string;
    readonly reply: string;
    readonly lasting: KeyRow['lasting'];
  },
];
/** Insert or replace a push configuration. */
export type PutPushConfigWrite = readonly [
  'put-push-config',
  {
    readonly scope: ScopeFields;
    readonly now: number;
    readonly taskId: string;
    readonly id: string;
    readonly config: string;
    /** Maximum number of configurations of the task. */
    readonly limit: number | null;
  },
];
/** Delete a push configuration. */
export type DeletePushConfigWrite = readonly [
  'delete-push-config',
  { readonly scope: ScopeFields; readonly taskId: string; readonly id: string },
];
/** Replace the text of a push configuration, if it is unchanged. */
export type RewriteConfigWrite = readonly [
  'rewrite-config',
  { readonly queue: QueueFields; readonly from: string; readonly to: string },
];
/** The fields of the key of a delivery queue, flat. */
export interface QueueFields {
  readonly scope: ScopeFields;
  readonly taskId: string;
  readonly configId: string;
}

/** A record with its texts. */
export type RecordFields = readonly [
  seq: number,
  turn: number,
  event: string,
  history: string | null,
  metadata: string | null,
];

/** Claim due delivery queues. */
export type ClaimDeliveriesWrite = readonly [
  'claim-deliveries',
  {
    readonly now: number;
    readonly node: string;
    readonly leaseMs: number;
    readonly agents: readonly string[];
    readonly limit: number;
    readonly maxBytes: number;
  },
];
/** A claimed queue with its configuration and the next records as texts. */
export interface ClaimedDelivery extends QueueFields {
  readonly epoch: number;
  readonly config: string;
  readonly position: number;
  readonly last: number;
  readonly attempts: number;
  readonly trace: string | undefined;
  readonly records: readonly RecordFields[];
}
/** The claimed queues, and whether a limit ended the list. */
export interface ClaimDeliveriesResult {
  readonly claims: readonly ClaimedDelivery[];
  readonly more: boolean;
}

/** Store the outcome of a delivery attempt. */
export type SettleDeliveryWrite = readonly [
  'settle-delivery',
  {
    readonly queue: QueueFields;
    readonly now: number;
    readonly epoch: number;
    readonly outcome: DeliveryOutcome;
  },
];
/** Make a queue due again. */
export type ReplayDeliveryWrite = readonly [
  'replay-delivery',
  { readonly queue: QueueFields; readonly now: number; readonly from: number | undefined },
];
/** Drop the pending records of a queue. */
export type PurgeDeliveryWrite = readonly ['purge-delivery', { readonly queue: QueueFields; readonly now: number }];

/** Refuse new data of an owner until a time. */
export type BlockOwnerWrite = readonly ['block-owner', { readonly owner: OwnerQuery; readonly until: number }];
/** Erase a part of a scope. */
export type EraseOwnedWrite = readonly ['erase-owned', { readonly scope: ScopeFields; readonly limit: number }];
/** The counts of an erased part, and the ids of its tasks. */
export type EraseOwnedResult = ErasedPart;
/** Rewrite the file without deleted rows. In a batch of its own. */
type ScrubWrite = readonly ['scrub'];

/** Delete rows past their retention. */
export type SweepWrite = readonly ['sweep', { readonly now: number; readonly retention: Retention }];
/** Write a meaningless row. */
export type CheckWrite = readonly ['check', { readonly now: number }];

/** The answer to each request. */
export interface WriteResults {
  readonly accept: AcceptResult;
  readonly append: AppendResult;
  readonly claim: ClaimResult;
  readonly begin: HeldResult;
  readonly renew: RenewResult;
  readonly release: { readonly waiting: number; readonly isReady: boolean };
  readonly 'leave-aside': undefined;
  /** Agents with turns or deliveries that can be claimed now. */
  readonly 'keep-leases': readonly string[];
  readonly checkpoint: boolean;
  readonly cancel: CancelResult;
  readonly create: boolean | 'blocked';
  readonly delete: 'deleted' | 'not-found' | 'running';
  readonly reserve: KeyResult;
  readonly unreserve: undefined;
  readonly remember: KeyResult;
  readonly 'put-push-config': ConfigPut;
  readonly 'delete-push-config': boolean;
  readonly 'rewrite-config': boolean;
  readonly 'claim-deliveries': ClaimDeliveriesResult;
  readonly 'settle-delivery': QueueWritten<'settled' | 'overtaken'>;
  readonly 'replay-delivery': QueueWritten<'replayed' | 'not-found' | 'not-kept'>;
  readonly 'purge-delivery': boolean;
  readonly 'block-owner': undefined;
  readonly 'erase-owned': EraseOwnedResult;
  readonly scrub: undefined;
  /** The waiting work. */
  readonly check: StorageLoad;
  readonly sweep: Swept;
}

/** The result of a request, or the reason of its failure and whether the health report of the writer covers it. */
export type Settled =
  | readonly [failed: false, result: unknown]
  | readonly [failed: true, reason: string, reported: boolean];
