import type { StreamResponse, Task } from 'parley-a2a';
import { joinParts } from 'parley-a2a/kit';
import { withCause } from './agent-errors.js';
import { describeEvent } from './event-view.js';
import { ProtocolAssertionError } from './protocol-assertion-error.js';

/**
 * The point at which a process dies: after a number of committed events of the agent, or after its first checkpoint. A
 * predicate selects the first event for which it returns true. It gets the event and its number, from 1.
 */
export type CrashPoint = number | 'checkpoint' | ((event: StreamResponse, number: number) => boolean);

const ASSERTION = 'crashAndResume';

/** A text for a point, for errors. */
export function pointText(point: CrashPoint): string {
  if (typeof point === 'number') return `after ${point} events`;
  return point === 'checkpoint' ? 'after a checkpoint' : 'after an event that the predicate takes';
}

/**
 * True if a process dies after these commits of its agent. `events` are all so far, `fresh` is the number of new ones.
 */
export function isReached(
  point: CrashPoint,
  {
    events,
    fresh,
    hasCheckpoint,
  }: { readonly events: readonly StreamResponse[]; readonly fresh: number; readonly hasCheckpoint: boolean },
): boolean {
  if (typeof point === 'number') return events.length >= point;
  if (point === 'checkpoint') return hasCheckpoint;
  const before = events.length - fresh;
  return events.slice(before).some((event, at) => point(event, before + at + 1));
}

/**
 * Asserts that the log of a task has the events of both attempts, each once and in order.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertWholeLog(log: readonly StreamResponse[], attempts: readonly (readonly StreamResponse[])[]): void {
  const committed = attempts.flat();
  for (let eventIndex = 0; eventIndex < Math.max(log.length, committed.length); eventIndex += 1) {
    const [kept, written] = [log[eventIndex], committed[eventIndex]];
    if (kept !== undefined && written !== undefined && sameText(kept, written)) continue;
    throw new ProtocolAssertionError({
      assertion: ASSERTION,
      eventIndex,
      expected: written === undefined ? 'the end of the log' : `${describeEvent(written)} in the log`,
      actual: kept === undefined ? 'the end of the log' : describeEvent(kept),
    });
  }
}

/**
 * Asserts that a resumed task has the same state and artifacts as one whose process did not die.
 * @throws ProtocolAssertionError naming a lost, doubled or changed artifact.
 */
export function assertSameOutcome(resumed: Task, undisturbed: Task, error?: unknown): void {
  const fail = (expected: string, actual: string) => crashFailure(`${expected}, as without a crash`, actual, error);
  const [state, before] = [resumed.status.state, undisturbed.status.state];
  if (state !== before) throw fail(before, stateText(resumed));
  const [artifacts, wanted] = [contents(resumed), contents(undisturbed)];
  for (const [index, want] of wanted.entries()) {
    const got = artifacts[index];
    if (got === undefined) throw fail(`artifact ${index} ${want}`, 'a lost artifact');
    if (got !== want) throw fail(`artifact ${index} ${want}`, `${got}, which has lost, doubled or other content`);
  }
  if (artifacts.length > wanted.length) {
    throw fail(`${wanted.length} artifacts`, `${artifacts.length}: the last is ${artifacts.at(-1)}`);
  }
}

/**
 * Makes the error for a point that was not reached, or an agent that does not run again. `error` is that of the agent.
 */
export function crashFailure(expected: string, actual: string, error?: unknown): ProtocolAssertionError {
  return withCause(new ProtocolAssertionError({ assertion: ASSERTION, expected, actual }), error);
}

/** The state of a task, with the text of its status. */
export function stateText({ status }: Task): string {
  const text = (status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');
  return text === '' ? status.state : `${status.state} with "${text}"`;
}

/** The artifacts as text, without the ids that the engine makes. */
function contents({ artifacts = [] }: Task): string[] {
  return artifacts.map(({ name = '', parts }) => `${name} ${JSON.stringify(joinParts(parts))}`.trim());
}

function sameText(one: StreamResponse, other: StreamResponse): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
