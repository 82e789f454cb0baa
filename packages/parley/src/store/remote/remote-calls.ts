import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import { LogRecord } from '../../task/log-record.js';
import type { StorageCall } from '../intercepted-storage.js';
import type { DeliveryClaims } from '../push-storage.js';
import type { Acceptance, AcceptOutcome, Append, RecordPage } from '../task-storage.js';

/** Calls of a storage process in addition to those of a storage. */
export type RemoteCall = StorageCall | 'rates.take' | 'siblings.collect' | 'siblings.give' | 'file.write';

/** Arguments and results as JSON has them: `null` for an absent one, arrays for records. */
type Args = readonly unknown[];

/** One call between processes. */
interface CallRule {
  /**
   * The action if the answer of a call was lost: `same` repeats it, `never` fails it, a function marks it as a repeat.
   */
  readonly repeat: 'same' | 'never' | ((args: Args) => Args);
  readonly toArgs?: (args: Args) => Args;
  readonly fromArgs?: (args: Args) => Args;
  readonly toResult?: (result: unknown, args: Args) => unknown;
  readonly fromResult?: (result: unknown, args: Args) => unknown;
}

const same: CallRule = { repeat: 'same' };
const never: CallRule = { repeat: 'never' };

/** JSON has no Infinity: `null` means no maximum. */
const unbounded =
  (at: number) =>
  (args: Args): Args =>
    args.map((value, index) => (index === at && value === undefined ? Number.POSITIVE_INFINITY : value));
const boundless = (args: Args): Args =>
  args.map((value) => (Object(value).maxBytes === null ? { ...Object(value), maxBytes: Infinity } : value));

const RULES: Readonly<Record<RemoteCall, CallRule>> = {
  accept: {
    repeat: ([acceptance]) => [{ ...(acceptance as Acceptance), again: true }],
    toResult: toAccepted,
    fromResult: fromAccepted,
  },
  append: {
    repeat: 'same',
    toArgs: ([append]) => [{ ...(append as Append), records: (append as Append).records.map(recordFields) }],
    fromArgs: ([append]) => [
      { ...(append as Append), records: (append as { records: RecordFields[] }).records.map(recordOf) },
    ],
  },
  // The next claim returns the turns of a lost answer.
  claim: { repeat: 'never', fromArgs: boundless },
  begin: same,
  renew: same,
  release: same,
  // `null` is a valid value here, different from an absent one.
  saveCheckpoint: {
    repeat: 'same',
    toArgs: ([turn, checkpoint]) => [turn, [checkpoint]],
    fromArgs: ([turn, box]) => [turn, ...(box as Args)],
  },
  requestCancel: same,
  task: same,
  tasks: { repeat: 'same', fromArgs: boundless },
  records: {
    repeat: 'same',
    fromArgs: unbounded(2),
    toResult: (page) => ({ ...(page as RecordPage), records: (page as RecordPage).records.map(recordFields) }),
    fromResult: (page) => ({
      ...(page as RecordPage),
      records: (page as { records: RecordFields[] }).records.map(recordOf),
    }),
  },
  heads: { repeat: 'same', fromResult: (heads) => (heads as Args).map((head) => head ?? undefined) },
  abandoned: same,
  create: never,
  delete: same,
  now: same,
  heartbeat: same,
  nodes: same,
  check: same,
  sweep: same,
  close: never,
  'keys.reserve': same,
  'keys.unreserve': same,
  'keys.remember': same,
  'keys.recall': same,
  'push.putConfig': same,
  'push.config': same,
  'push.configs': same,
  'push.deleteConfig': same,
  'push.rewriteConfig': same,
  'push.claim': {
    repeat: 'never',
    fromArgs: boundless,
    toResult: (claims) => changedClaims(claims, recordFields),
    fromResult: (claims) => changedClaims(claims, recordOf),
  },
  'push.settle': same,
  'push.queues': same,
  'push.replay': same,
  'push.purge': same,
  'owners.block': same,
  'owners.scopes': same,
  'owners.listScopes': same,
  'owners.allTasks': same,
  'owners.keys': same,
  'owners.erase': never,
  'owners.scrub': same,
  'rates.take': never,
  // Argument: true if the requests may have been executed already.
  'file.write': { repeat: () => [true] },
  'siblings.collect': never,
  'siblings.give': never,
};

/** The names of all calls. */
export const REMOTE_CALLS = Object.keys(RULES) as readonly RemoteCall[];

/** The rule of a call. */
export function ruleOf(call: RemoteCall): CallRule {
  return RULES[call];
}

type RecordFields = readonly [
  seq: number,
  turn: number,
  event: string,
  history: readonly Message[] | null,
  metadata: JsonObject | null,
];

function recordFields({ seq, turn, text, history, metadata }: LogRecord): RecordFields {
  return [seq, turn, text, history ?? null, metadata ?? null];
}

function recordOf([seq, turn, event, history, metadata]: RecordFields): LogRecord {
  if (history === null && metadata === null) return new LogRecord(seq, turn, event);
  return new LogRecord(seq, turn, event, { ...(history && { history }), ...(metadata && { metadata }) });
}

function changedClaims(result: unknown, change: (record: never) => unknown): unknown {
  const { claims, more } = result as DeliveryClaims;
  return { claims: claims.map((claim) => ({ ...claim, records: claim.records.map(change as never) })), more };
}

/** The caller already has the message, the caller context and the new task. */
function toAccepted(result: unknown, [acceptance]: Args): unknown {
  const outcome = result as AcceptOutcome;
  if (outcome.kind !== 'accepted' || outcome.claim === undefined) return outcome;
  const { task, message: _, caller: __, ...claim } = outcome.claim;
  const isOwn = 'create' in (acceptance as Acceptance).task && claim.seq === 1;
  return { ...outcome, claim: isOwn ? claim : { ...claim, task } };
}

function fromAccepted(result: unknown, [acceptance]: Args): unknown {
  const outcome = result as AcceptOutcome;
  if (outcome.kind !== 'accepted' || outcome.claim === undefined) return outcome;
  const { task, message, caller } = acceptance as Acceptance;
  const own = 'create' in task ? { task: task.create } : {};
  return { ...outcome, claim: { ...own, ...outcome.claim, message, caller } };
}
