/**
 * What the main thread asks of the writer. Large values travel as JSON text and everything as flat tuples: both cost
 * the main thread a fraction of what object trees would.
 */
export type Operation =
  | AcceptOperation
  | AppendOperation
  | ClaimOperation
  | BeginOperation
  | RenewOperation
  | ReleaseOperation
  | LeaveAsideOperation
  | CheckpointOperation
  | CancelOperation
  | CreateOperation
  | DeleteOperation
  | RememberOperation
  | PutPushConfigOperation
  | DeletePushConfigOperation
  | CheckOperation
  | SweepOperation;

/** A scope, spread out. */
export type ScopeFields = readonly [agent: string, tenant: string, owner: string | null];

/** A task to put there, with the text of the record that shows it. */
export type NewTaskFields = readonly [
  contextId: string | null,
  state: number,
  statusTime: number,
  status: string,
  metadata: string | null,
  /** Of a task that has ended already. */
  history: string | null,
  artifacts: string | null,
  event: string,
];

/** A turn that somebody holds, or believes to. */
export type HeldFields = readonly [scope: ScopeFields, taskId: string, turn: number, epoch: number];

/** Take a message in. */
export type AcceptOperation = readonly [
  'accept',
  scope: ScopeFields,
  now: number,
  taskId: string,
  create: NewTaskFields | null,
  /** The context the caller named. */
  contextId: string | null,
  message: string,
  caller: string,
  claim: readonly [node: string, leaseMs: number] | null,
  pushConfig: readonly [id: string, config: string] | null,
  idempotency: readonly [key: string, expiresAt: number, digest: string] | null,
  waitingLimit: number,
];
/** The turn a message got, or why it got none; `epoch` is there when it was claimed. */
export type AcceptResult =
  | readonly ['accepted', turn: number, epoch: number | null]
  | readonly ['repeated', digest: string, taskId: string | null, turn: number | null, reply: string | null]
  | readonly ['terminal', state: number]
  | readonly ['not-found' | 'other-context' | 'full'];

/** Append records to the log of a task. */
export type AppendOperation = readonly [
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
  /** `RECORD_FIELDS` values for each record. */
  records: readonly (string | number | null)[],
];
/** How many values of `records` make one: turn, event, history, metadata. */
export const RECORD_FIELDS = 4;
/** What became of an append. */
export type AppendResult =
  | readonly ['appended', waiting: number]
  | readonly ['fenced' | 'running' | 'terminal' | 'not-found'];

/** Claim turns that nobody runs. */
export type ClaimOperation = readonly [
  'claim',
  now: number,
  node: string,
  leaseMs: number,
  agents: readonly string[],
  limit: number,
  task: readonly [scope: ScopeFields, id: string] | null,
];
/** A claimed turn; the task itself is read where it is needed. */
export type ClaimedTurn = readonly [
  scope: ScopeFields,
  taskId: string,
  epoch: number,
  turn: number,
  attempt: number,
  handOvers: number,
  began: boolean,
  message: string,
  caller: string,
  checkpoint: string | null,
  cancel: string | null,
];

/** Count an attempt of a turn that begins. */
export type BeginOperation = readonly ['begin', turn: HeldFields, attempt: number];
/** Move the ends of leases on. */
export type RenewOperation = readonly ['renew', now: number, leaseMs: number, turns: readonly HeldFields[]];
/** For each turn: `false` when it is lost, or the request to cancel it, if any. */
export type RenewResult = readonly (string | null | false)[];

/** Give a turn up. */
export type ReleaseOperation = readonly ['release', turn: HeldFields, how: 'done' | 'again' | RunsFields];
/** Counts of starts of its agent and of orderly stops. */
export type RunsFields = readonly [attempts: number, handOvers: number];
/** Give up a turn that cannot be read. */
export type LeaveAsideOperation = readonly ['leave-aside', turn: HeldFields, reason: string];
/** Keep a value for the next attempt. */
export type CheckpointOperation = readonly ['checkpoint', turn: HeldFields, checkpoint: string];
/** Ask to cancel a task. */
export type CancelOperation = readonly ['cancel', scope: ScopeFields, taskId: string, request: string];
/** What became of asking. */
export type CancelResult = readonly ['requested' | 'not-found'] | readonly ['terminal', state: number];

/** Put a task there from outside. */
export type CreateOperation = readonly ['create', scope: ScopeFields, now: number, taskId: string, task: NewTaskFields];
/** Remove a task. */
export type DeleteOperation = readonly ['delete', scope: ScopeFields, now: number, taskId: string];
/** Keep what a key led to. */
export type RememberOperation = readonly [
  'remember',
  scope: ScopeFields,
  key: string,
  expiresAt: number,
  digest: string,
  taskId: string | null,
  turn: number | null,
  reply: string | null,
];
/** Add or replace a push configuration. */
export type PutPushConfigOperation = readonly [
  'put-push-config',
  scope: ScopeFields,
  taskId: string,
  id: string,
  config: string,
];
/** Remove a push configuration. */
export type DeletePushConfigOperation = readonly ['delete-push-config', scope: ScopeFields, taskId: string, id: string];
/** Remove what has been kept long enough. */
export type SweepOperation = readonly [
  'sweep',
  finishedBefore: number,
  eventLogsBefore: number,
  now: number,
  limit: number,
];

/** Write that somebody looked. */
export type CheckOperation = readonly ['check', now: number];

/** What each operation answers. */
export interface OperationResults {
  readonly accept: AcceptResult;
  readonly append: AppendResult;
  readonly claim: readonly ClaimedTurn[];
  readonly begin: RenewResult[number];
  readonly renew: RenewResult;
  readonly release: number;
  readonly 'leave-aside': undefined;
  readonly checkpoint: boolean;
  readonly cancel: CancelResult;
  readonly create: boolean;
  readonly delete: 'deleted' | 'not-found' | 'running';
  readonly remember: undefined;
  readonly 'put-push-config': boolean;
  readonly 'delete-push-config': boolean;
  /** Executions that nobody runs. */
  readonly check: number;
  readonly sweep: readonly [tasks: number, records: number, keys: number, more: boolean];
}

/** The result of an operation that was done, or why it failed and whether that was reported as the writer's health. */
export type Settled =
  | readonly [failed: false, result: unknown]
  | readonly [failed: true, reason: string, reported: boolean];
