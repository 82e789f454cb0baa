import { describe, expect, it } from 'vitest';
import type { Acceptance, AcceptOutcome } from '../../../packages/parley/src/store/task-storage.js';
import { ALICE, acceptance, acceptedOf, ELSEWHERE, LEASE, newTask, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, type Tested, useStorage } from './tested-storage.js';

/**
 * Reasons for which a storage refuses a message, in the order of its checks: the first one is the answer.
 * `lost answer`: the message is a repeat.
 */
const REASONS = [
  'lost answer',
  'reserved',
  'repeated',
  'not-found',
  'terminal',
  'other-context',
  'full',
  'configs-full',
] as const;
type Reason = (typeof REASONS)[number];

/** Pairs of reasons that exclude each other. */
const EXCLUDED: readonly (readonly [Reason, Reason])[] = [
  // A message that waits or runs has a task, which has not ended.
  ['lost answer', 'not-found'],
  ['lost answer', 'terminal'],
  ['reserved', 'repeated'],
  ['not-found', 'terminal'],
  ['not-found', 'other-context'],
  ['not-found', 'full'],
  ['not-found', 'configs-full'],
];

const KEY = { key: 'k', digest: 'd', ttlMs: 1_000_000 };
const HOOK = { id: 'second', url: 'https://example.com/hook' };

/** The contract of messages that are refused for two reasons. */
export function refusalsContract(open: OpenStorage): void {
  describe('a message that is refused for two reasons gets the first, and writes nothing', () => {
    const tested = useStorage(open);
    for (const [first, second] of pairs()) {
      it(`${first}, then ${second}`, async () => {
        const { storage } = tested;
        const reasons = new Set([first, second]);
        const message = await refusedMessage(tested, reasons);
        const before = await storage.task(ALICE, 't1');
        const outcome = await storage.accept(message);
        expect(nameOf(outcome)).toBe(first);
        expect(await storage.task(ALICE, 't1')).toEqual(before);
        expect(await storage.push.config(ALICE, 't1', HOOK.id)).toBeUndefined();
        const isKeyKnown = (await storage.keys.recall(ALICE, KEY.key)) !== undefined;
        expect(isKeyKnown).toBe(reasons.has('repeated'));
      });
    }
  });
}

function pairs(): readonly (readonly [Reason, Reason])[] {
  const all = REASONS.flatMap((first, index) => REASONS.slice(index + 1).map((second) => [first, second] as const));
  return all.filter(([first, second]) => !EXCLUDED.some((pair) => pair[0] === first && pair[1] === second));
}

/** Returns a message with all of these reasons. */
async function refusedMessage(tested: Tested, reasons: ReadonlySet<Reason>): Promise<Acceptance> {
  const { storage } = tested;
  if (reasons.has('repeated')) {
    await storage.accept(
      acceptance(userMessage('earlier'), newTask(tested, 'earlier'), { idempotency: KEY, claim: LEASE }),
    );
  }
  if (reasons.has('reserved')) await storage.keys.reserve(ALICE, KEY, ELSEWHERE);
  const message = userMessage('m1');
  if (!reasons.has('not-found')) {
    const play = await TaskPlay.begin(tested, 't1', { pushConfig: { id: 'first', url: HOOK.url } });
    // The first sending of the repeated message waits on its task.
    if (reasons.has('lost answer')) acceptedOf(await storage.accept(acceptance(message, 't1', { claim: LEASE })));
    if (reasons.has('full')) acceptedOf(await storage.accept(acceptance(userMessage('waiting'), 't1')));
    if (reasons.has('terminal')) await play.write(['TASK_STATE_REJECTED'], { endsTurn: 1 });
  }
  return {
    ...acceptance(message, 't1', { claim: LEASE }),
    task: { id: 't1', contextId: reasons.has('other-context') ? 'another' : 'context of t1' },
    waitingLimit: reasons.has('full') ? 0 : 16,
    ...((reasons.has('reserved') || reasons.has('repeated')) && { idempotency: KEY }),
    ...(reasons.has('configs-full') && { pushConfig: HOOK, pushConfigLimit: 1 }),
    ...(reasons.has('lost answer') && { again: true }),
  };
}

function nameOf(outcome: AcceptOutcome): Reason | 'accepted' {
  if (outcome.kind !== 'accepted') return outcome.kind;
  return outcome.turn === 2 ? 'lost answer' : 'accepted';
}
