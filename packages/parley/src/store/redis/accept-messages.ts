import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import type { Claim } from '../held-turn.js';
import { decideAccept, repeatedAccept } from '../rules/decide-accept.js';
import type { Acceptance, AcceptOutcome } from '../task-storage.js';
import { type KeptKey, rememberedOf, standingOf } from './kept-keys.js';
import type { RedisCalls } from './redis-calls.js';
import { headOf, type KnownHead, newTaskFields, type TaskContent, taskOf } from './task-texts.js';
import { claimOf, type TurnFields } from './turn-claims.js';

/** The answers of the script: see `ACCEPT`. */
type AcceptAnswer =
  | readonly [0, now: string, head: KnownHead]
  | readonly [
      1,
      turn: string,
      seq: string,
      epoch: string | null,
      isDue: 0 | 1,
      content: TaskContent | null,
      isReady: 0 | 1,
    ]
  | readonly [2, now: string, head: KnownHead, turn: string, fields: TurnFields, content: TaskContent]
  | readonly [3, now: string, key: KeptKey, head: KnownHead]
  | readonly [4]
  | readonly [5];

/** Attempts of a decision while other calls change its task or its key. */
const ATTEMPTS = 8;

/** The outcome of an acceptance. `isDue`: a delivery became due. `isReady`: a node can claim a turn of the task now. */
export interface Accepted {
  readonly outcome: AcceptOutcome;
  readonly isDue: boolean;
  readonly isReady: boolean;
}

/** Takes a message in, with its task if that is new. */
export async function acceptMessage(calls: RedisCalls, acceptance: Acceptance): Promise<Accepted> {
  const { scope, task, message, caller, claim, pushConfig, pushConfigLimit, idempotency, waitingLimit, again } =
    acceptance;
  const taskId = 'create' in task ? task.create.id : task.id;
  const place = calls.keys.ofTask({ scope, id: taskId });
  const configId = pushConfig?.id ?? taskId;
  const contextId = 'create' in task ? undefined : (task.contextId ?? undefined);
  const texts = { message: JSON.stringify(message), caller: JSON.stringify(caller) };
  const before = [
    place.name,
    place.scope,
    place.agent,
    taskId,
    'create' in task ? 'create' : 'add',
    again === true ? 1 : 0,
    texts.message,
    texts.caller,
    claim?.node ?? '',
    claim?.leaseMs ?? '',
    waitingLimit,
    contextId === undefined ? '' : JSON.stringify(contextId),
    idempotency === undefined ? '' : JSON.stringify(idempotency.key),
    idempotency?.ttlMs ?? '',
    idempotency?.digest ?? '',
  ];
  const after = [
    pushConfig === undefined ? '' : JSON.stringify(configId),
    pushConfig === undefined ? '' : JSON.stringify({ ...pushConfig, id: configId, taskId }),
    pushConfigLimit ?? '',
    ...('create' in task ? newTaskFields(task.create) : []),
  ];
  for (let attempt = 0, seen = ''; attempt < ATTEMPTS; attempt += 1) {
    const answer = await calls.run<AcceptAnswer>('accept', place, [...before, seen, ...after]);
    switch (answer[0]) {
      case 0: {
        const outcome = refused(acceptance, { now: Number(answer[1]), head: headOf(answer[2]) });
        if (outcome === undefined) continue;
        return unchanged(outcome);
      }
      case 1: {
        const [, turn, seq, epoch, due, content, ready] = answer;
        const [isDue, isReady] = [due === 1, ready === 1];
        const accepted = { kind: 'accepted', taskId, turn: Number(turn), seq: Number(seq) } as const;
        if (epoch === null) return { outcome: accepted, isDue, isReady };
        const known = { scope, turn: accepted.turn, attempt: 1, handOvers: 0, message, caller, began: false };
        const created = 'create' in task ? task.create : undefined;
        const whole = created ?? (content === null ? undefined : taskOf(taskId, content).task);
        if (whole === undefined) throw new StorageError('The script did not answer the task that it claimed');
        const turnClaim: Claim = { ...known, task: whole, seq: accepted.seq, epoch: Number(epoch) };
        return { outcome: { ...accepted, claim: turnClaim }, isDue, isReady };
      }
      case 2:
        return acceptedBefore(acceptance, texts, answer);
      case 3: {
        const [, now, kept] = answer;
        const standing = standingOf(kept, claim?.node, Number(now));
        if (standing === 'reserved') return unchanged({ kind: 'reserved' });
        if (standing === 'known') return unchanged({ kind: 'repeated', first: rememberedOf(kept) });
        seen = kept[7];
        break;
      }
      case 4:
        return unchanged({ kind: 'configs-full' });
      case 5:
        throw new OwnerBlockedError();
    }
  }
  throw new StorageError(`The task ${taskId} changed ${ATTEMPTS} times while a message was accepted: repeat the call`);
}

function unchanged(outcome: AcceptOutcome): Accepted {
  return { outcome, isDue: false, isReady: false };
}

/** The refusal of a message; undefined if the rule takes it in. */
function refused(
  { task, waitingLimit, claim }: Acceptance,
  { head, now }: { readonly head: ReturnType<typeof headOf>; readonly now: number },
): AcceptOutcome | undefined {
  if ('create' in task) throw new StorageError(`The task id ${task.create.id} is taken`);
  const decision = decideAccept(head, { contextId: task.contextId, waitingLimit, claim }, now);
  if (decision.kind === 'accepted') return undefined;
  if (decision.kind === 'terminal' && head !== undefined) return { kind: 'terminal', state: head.state };
  return decision.kind === 'terminal' ? { kind: 'not-found' } : { kind: decision.kind };
}

/** The answer to a message that was taken in, when its caller missed the answer. */
function acceptedBefore(
  { scope, task, claim, pushConfig }: Acceptance,
  { message, caller }: { readonly message: string; readonly caller: string },
  [, , known, foundTurn, [counts, checkpoint, cancel], content]: Extract<AcceptAnswer, readonly [2, ...unknown[]]>,
): Accepted {
  const head = headOf(known);
  if (head === undefined) return unchanged({ kind: 'not-found' });
  const taskId = 'create' in task ? task.create.id : task.id;
  const { turn, isClaimed, isReady } = repeatedAccept(head, Number(foundTurn), claim);
  const accepted = { kind: 'accepted', taskId, turn, seq: head.seq } as const;
  const isDue = pushConfig !== undefined;
  if (!isClaimed) return { outcome: accepted, isDue, isReady };
  const [attempts = '0', handOvers = '0'] = counts.split(' ');
  const texts = [message, caller, checkpoint, cancel] as const;
  const attempt = Math.max(1, Number(attempts));
  const turnClaim = claimOf({ scope, id: taskId }, { attempt, handOvers: Number(handOvers), texts, content });
  return { outcome: { ...accepted, claim: turnClaim }, isDue, isReady };
}
