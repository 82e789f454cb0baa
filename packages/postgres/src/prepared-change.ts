import {
  type HeadChange,
  type Holder,
  isTerminal,
  type LogRecord,
  ShapedTask,
  stateNumber,
  statusText,
  statusTime,
  type WrittenAppend,
} from 'parley-a2a/storage-engine';
import type { PostgresHead } from './load-rows.js';
import { type StoredScopes, scopeColumns, textOfName } from './stored-names.js';

/** A record for a statement. */
export interface RecordFields {
  readonly q: number;
  readonly t: number;
  readonly e: string;
  readonly h?: string | null | undefined;
  readonly m?: string | null | undefined;
}

/** The changes of a waiting or running turn. `ready`: false if a node holds it, true if it can be claimed. */
interface TurnFields {
  turn: number;
  ready?: boolean;
  node?: string;
  lease_ms?: number;
  attempt?: number;
  hand_overs?: number;
  checkpoint?: string;
  cancel?: string;
}

/** Fields that may all be absent. JSON has no members that are undefined. */
type AbsentFields<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

/** A change of a task for the statement that changes tasks. */
export interface PreparedChange extends AbsentFields<AppendFields>, AbsentFields<AddedFields> {
  /** Its index in the batch. */
  n: number;
  readonly pk: number;
  readonly part: number;
  /** The expected version of the task. */
  readonly version: number;
  /** True if the version does not change: the change only adds records, which affect no other decision. */
  readonly stays: boolean;
  readonly epoch: number;
  readonly turns: number;
  /** Absent: unchanged. */
  readonly held: number | undefined;
  readonly queued: number;
  /** The turn to remove. 0: all of them. */
  readonly drops: number | undefined;
  readonly changed: readonly TurnFields[] | undefined;
  /** Its approximate length in the statement. */
  readonly length: number;
}

interface AppendFields {
  /** The expected last record of the task. */
  readonly after: number;
  readonly seq: number;
  readonly began: number;
  readonly count: number;
  readonly bytes: number;
  readonly state: number;
  readonly status_time: number;
  readonly ends: boolean;
  readonly status: string;
  readonly metadata: string;
  readonly snap: boolean;
  readonly history: string;
  readonly artifacts: string;
  readonly records: readonly RecordFields[];
}

interface AddedFields {
  readonly adds: number;
  readonly attempt: number;
  readonly ready: boolean;
  readonly message: string;
  readonly caller: string;
  readonly node: string;
  readonly lease_ms: number;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
}

/** The columns of a `PreparedChange`, for `json_to_recordset`. Those of `ADDED_FIELDS` are about its turns. */
export const CHANGE_FIELDS = `n integer, pk bigint, part smallint, version integer, stays boolean,
  epoch integer, turns integer, held integer, queued integer, drops integer, after integer, seq integer, began integer,
  count integer, bytes bigint,
  state smallint, status_time bigint, ends boolean, status text, metadata text, snap boolean, history text,
  artifacts text, records json`;
export const ADDED_FIELDS = `changed json, adds integer, attempt integer, ready boolean, message text, caller text,
  node text, lease_ms bigint, agent text, tenant text, owner text`;
export const TURN_FIELDS = `turn integer, ready boolean, node text, lease_ms bigint, attempt integer,
  hand_overs integer, checkpoint text, cancel text`;
export const RECORD_FIELDS = 'q integer, t integer, e text, h text, m text';

/** Returns a change of an existing task in the form for the statement. */
export function preparedChange(
  scopes: StoredScopes,
  change: HeadChange<PostgresHead>,
  before: PostgresHead,
): PreparedChange {
  const { task, epoch, turns, queue, lease, drops, append } = change;
  const appended = append && appendFields(append, change);
  const added = addedFields(change);
  const changed = changedTurns(change, before);
  const held = lease === undefined ? (queue.length === 0 ? 0 : undefined) : (lease?.turn ?? 0);
  return {
    n: 0,
    pk: before.pk,
    part: scopes.of(task.scope).part,
    version: before.version,
    stays: keepsVersion(change, before),
    epoch,
    turns,
    queued: queue.length,
    held,
    drops: drops === 'all' ? 0 : drops,
    changed: changed.length > 0 ? changed : undefined,
    ...appended,
    ...added,
    length:
      (appended?.bytes ?? 0) +
      (appended?.history?.length ?? 0) +
      (appended?.artifacts?.length ?? 0) +
      (added?.message?.length ?? 0),
  };
}

/** Returns the holder of a task after a change that grants no lease. */
export function keptHolder({ lease, queue }: HeadChange<PostgresHead>, before: PostgresHead): Holder | undefined {
  const { holder } = before;
  return lease === undefined && queue.some(({ turn }) => turn === holder?.turn) ? holder : undefined;
}

/**
 * True for a change that affects only decisions about the next append. So a turn that writes many records does not
 * block other processes from its task.
 */
export function keepsVersion(
  { append, adds, drops, lease, epoch, cancel, config, key }: HeadChange<PostgresHead>,
  before: PostgresHead,
): boolean {
  const isOther = adds ?? drops ?? lease ?? cancel ?? config ?? key;
  return append !== undefined && isOther === undefined && lease === undefined && epoch === before.epoch;
}

function appendFields(
  { after, records, head, snapshot }: WrittenAppend,
  { seq, began }: HeadChange<PostgresHead>,
): AbsentFields<AppendFields> {
  const texts = snapshot && ShapedTask.textsOf(snapshot);
  const fields = preparedRecords(records);
  return {
    after,
    seq,
    began,
    count: records.length,
    bytes: fields.reduce((sum, { e, h, m }) => sum + e.length + (h?.length ?? 0) + (m?.length ?? 0), 0),
    state: stateNumber(head.status.state),
    status_time: statusTime(head.status),
    ends: isTerminal(head.status.state),
    status: texts?.status ?? statusText(head.status),
    metadata: head.metadata && JSON.stringify(head.metadata),
    snap: texts !== undefined,
    history: texts?.history,
    artifacts: texts?.artifacts,
    records: fields,
  };
}

function addedFields({ task, adds, lease, queue }: HeadChange<PostgresHead>): AbsentFields<AddedFields> | undefined {
  if (adds === undefined) return undefined;
  const { turn, attempts, message, caller } = adds;
  const [agent, tenant, owner] = scopeColumns(task.scope);
  const isClaimed = lease !== undefined && lease !== null && lease.turn === turn;
  return {
    adds: turn,
    attempt: attempts,
    ready: !isClaimed && queue.length === 1,
    message: JSON.stringify(message),
    caller: JSON.stringify(caller),
    node: isClaimed ? textOfName(lease.node) : undefined,
    lease_ms: isClaimed ? lease.leaseMs : undefined,
    agent,
    tenant,
    owner,
  };
}

function changedTurns(change: HeadChange<PostgresHead>, before: PostgresHead): readonly TurnFields[] {
  const { queue, lease, drops, adds, counts, checkpoint, cancel } = change;
  const changed = new Map<number, TurnFields>();
  const fieldsOf = (turn: number): TurnFields => {
    const fields = changed.get(turn) ?? { turn };
    changed.set(turn, fields);
    return fields;
  };
  const [first] = queue;
  if (lease !== undefined && lease !== null && lease.turn !== adds?.turn) {
    Object.assign(fieldsOf(lease.turn), { ready: false, node: textOfName(lease.node), lease_ms: lease.leaseMs });
  } else if (first !== undefined && (lease === null || drops !== undefined) && !keptHolder(change, before)) {
    fieldsOf(first.turn).ready = true;
  }
  if (counts !== undefined) {
    Object.assign(fieldsOf(counts.turn), { attempt: counts.attempts, hand_overs: counts.addedHandOvers });
  }
  if (checkpoint !== undefined) fieldsOf(checkpoint.turn).checkpoint = JSON.stringify(checkpoint.value);
  if (cancel !== undefined) fieldsOf(cancel.turn).cancel = JSON.stringify(cancel.request);
  return [...changed.values()].filter(({ turn }) => queue.some((left) => left.turn === turn));
}

/** Returns records in the form for statements. */
export function preparedRecords(records: readonly LogRecord[]): readonly RecordFields[] {
  return records.map(({ seq, turn, text, history, metadata }) => ({
    q: seq,
    t: turn,
    e: text,
    h: history && JSON.stringify(history),
    m: metadata && JSON.stringify(metadata),
  }));
}
