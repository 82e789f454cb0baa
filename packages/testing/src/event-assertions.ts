import type { Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState } from 'parley-a2a';
import { isTerminal, refuseArgument } from 'parley-a2a/kit';
import { type ToolEvent, toolEventsOf } from 'parley-a2a/tools';
import { violationsOf } from 'parley-a2a/validation';
import { agentErrorIn, withCause } from './agent-errors.js';
import { describeEvent, idsOf, isFinal, isWaiting, statusOf } from './event-view.js';
import { type AssertionFinding, ProtocolAssertionError } from './protocol-assertion-error.js';
import { assertToolLifecycle } from './tool-assertions.js';

/** Events of a stream, or a collector of them. */
export type AssertedEvents = readonly StreamResponse[] | { readonly events: readonly StreamResponse[] };

/** The ids that all events must have. Default: those of the first event. */
export interface ExpectedIds {
  readonly taskId?: string;
  readonly contextId?: string;
}

/**
 * Asserts that the first event is the new task, and that the agent works before it gives results. A rejected task needs
 * no work.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertTaskCreationAndWorkingStatus(events: AssertedEvents): void {
  const found = finder('assertTaskCreationAndWorkingStatus', events);
  const list = listOf(events);
  const [first] = list;
  if (first === undefined || first.task === undefined)
    throw found({ eventIndex: 0, expected: 'a task', actual: describeEvent(first) });
  const { state } = first.task.status;
  if (state === 'TASK_STATE_WORKING') return;
  if (state !== 'TASK_STATE_SUBMITTED') {
    throw found({ eventIndex: 0, expected: 'a new task in SUBMITTED or WORKING', actual: describeEvent(first) });
  }
  for (const [eventIndex, event] of list.entries()) {
    const shownState = statusOf(event)?.state;
    if (shownState === 'TASK_STATE_WORKING' || shownState === 'TASK_STATE_REJECTED') return;
    if (eventIndex > 0 && shownState !== 'TASK_STATE_SUBMITTED') {
      throw found({ eventIndex, expected: 'TASK_STATE_WORKING before any result', actual: describeEvent(event) });
    }
  }
  throw found({ expected: 'TASK_STATE_WORKING', actual: 'no such event' });
}

/**
 * Asserts that one event is final, and that no event follows it. A turn that ends with a question to the caller has no
 * final event.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertUniqueFinalEventIsLast(events: AssertedEvents): void {
  const found = finder('assertUniqueFinalEventIsLast', events);
  const list = listOf(events);
  const last = list.at(-1);
  if (last === undefined) throw found({ expected: 'a final event', actual: 'no event' });
  const at = list.findIndex(isFinal);
  const next = list[at + 1];
  if (at >= 0 && next !== undefined) {
    const expected = `no event after the final one (event ${at}, ${describeEvent(list[at])})`;
    throw found({ eventIndex: at + 1, expected, actual: describeEvent(next) });
  }
  if (at >= 0 || isWaiting(last)) return;
  throw found({ eventIndex: list.length - 1, expected: 'a final event at the end', actual: describeEvent(last) });
}

/**
 * Asserts that all events, and the messages in them, name the same task and context.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertConsistentIdPropagation(events: AssertedEvents, expected: ExpectedIds = {}): void {
  const found = finder('assertConsistentIdPropagation', events);
  const list = listOf(events);
  const first = list[0] === undefined ? {} : idsOf(list[0]);
  const wanted: ExpectedIds = { ...first, ...expected };
  const check = (eventIndex: number, place: string, ids: IdsOfMember, isComplete: boolean): void => {
    for (const name of ['taskId', 'contextId'] as const) {
      const actual = ids[name];
      if (actual === wanted[name] || (actual === undefined && !isComplete)) continue;
      const member = `${name} of ${place}`;
      throw found({ eventIndex, expected: `${member} "${wanted[name]}"`, actual: quote(actual) });
    }
  };
  for (const [eventIndex, event] of list.entries()) {
    check(eventIndex, describeEvent(event), idsOf(event), true);
    const message = statusOf(event)?.message;
    if (message !== undefined) check(eventIndex, `the message of ${describeEvent(event)}`, message, false);
    for (const one of historyOf(event)) check(eventIndex, `message ${one.messageId} of the history`, one, false);
  }
}

/**
 * Asserts that the times of the statuses are valid and never decrease.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertChronologicalOrdering(events: AssertedEvents): void {
  const found = finder('assertChronologicalOrdering', events);
  let before = '';
  for (const [eventIndex, event] of listOf(events).entries()) {
    const timestamp = statusOf(event)?.timestamp;
    if (timestamp === undefined) continue;
    if (Number.isNaN(Date.parse(timestamp))) {
      throw found({ eventIndex, expected: 'a timestamp such as 2026-01-01T00:00:00.000Z', actual: quote(timestamp) });
    }
    if (before !== '' && Date.parse(timestamp) < Date.parse(before)) {
      throw found({ eventIndex, expected: `a time from ${before} on`, actual: timestamp });
    }
    before = timestamp;
  }
}

/**
 * Asserts that each artifact update has an id and parts. Chunks must extend an existing artifact, and none may follow
 * the last chunk.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertValidArtifactUpdates(events: AssertedEvents): void {
  const found = finder('assertValidArtifactUpdates', events);
  const known = new Set<string>();
  const complete = new Set<string>();
  for (const [eventIndex, event] of listOf(events).entries()) {
    if (event.task !== undefined) for (const { artifactId } of event.task.artifacts ?? []) known.add(artifactId);
    if (event.artifactUpdate === undefined) continue;
    const update: TaskArtifactUpdateEvent = event.artifactUpdate;
    const [violation] = violationsOf('TaskArtifactUpdateEvent', update);
    if (violation !== undefined) {
      const { field, description } = violation;
      throw found({ eventIndex, expected: `a valid ${field}`, actual: `${describeEvent(event)}: ${description}` });
    }
    const { artifactId } = update.artifact;
    if (update.append !== true) complete.delete(artifactId);
    else if (!known.has(artifactId)) {
      throw found({ eventIndex, expected: `artifact ${artifactId} before its chunks`, actual: 'a chunk of it' });
    }
    if (complete.has(artifactId)) {
      throw found({
        eventIndex,
        expected: `no chunk of ${artifactId} after its last one`,
        actual: describeEvent(event),
      });
    }
    known.add(artifactId);
    if (update.lastChunk === true) complete.add(artifactId);
  }
}

/**
 * Asserts the final state of a task, or of the task of a stream. The error also has the text of its last status.
 * @throws ProtocolAssertionError otherwise.
 */
export function assertTaskFinalState(ended: Task | AssertedEvents, state: TaskState): void {
  const found = finder('assertTaskFinalState', ended);
  if (isTask(ended)) {
    if (ended.status.state !== state) throw found({ expected: state, actual: withReason(ended) });
    return;
  }
  const list = listOf(ended);
  const eventIndex = list.findLastIndex((event) => statusOf(event) !== undefined);
  const status = list[eventIndex] && statusOf(list[eventIndex]);
  if (status === undefined) throw found({ expected: state, actual: 'no status' });
  if (status.state !== state) throw found({ eventIndex, expected: state, actual: withReason({ status }) });
}

/** The checks of `assertAllProtocolInvariants`. */
export interface InvariantOptions extends ExpectedIds {
  /** The state in which the task must end. Default: any. */
  readonly finalState?: TaskState;
}

/**
 * Asserts all rules for the events of one turn. Each event is valid, and all assertions about events hold. A direct
 * message is the only event of its turn. Calls of tools follow `assertToolLifecycle`, and a completed task has no open
 * call.
 * @throws ProtocolAssertionError of the first broken rule.
 */
export function assertAllProtocolInvariants(events: AssertedEvents, options: InvariantOptions = {}): void {
  const found = finder('assertAllProtocolInvariants', events);
  const list = listOf(events);
  for (const [eventIndex, event] of list.entries()) {
    const violation = faultOf(event);
    if (violation !== undefined) throw found({ eventIndex, expected: 'a valid event', actual: violation });
  }
  assertUniqueFinalEventIsLast(list);
  const at = list.findIndex((event) => event.message !== undefined);
  if (at > 0) {
    throw found({ eventIndex: at, expected: 'a direct message to be the only event', actual: `${at} events before` });
  }
  const { finalState, ...ids } = options;
  if (at < 0) {
    assertTaskCreationAndWorkingStatus(list);
    assertValidArtifactUpdates(list);
    assertChronologicalOrdering(list);
  }
  assertConsistentIdPropagation(list, ids);
  const calls = toolEventsIn(list);
  const last = list.at(-1);
  const mayBeOpen = (last && statusOf(last)?.state) !== 'TASK_STATE_COMPLETED';
  if (calls.length > 0) checkTools(calls, { mayBeOpen, error: errorOf(events) });
  if (finalState !== undefined) assertTaskFinalState(list, finalState);
}

function checkTools(
  calls: readonly ToolEvent[],
  { mayBeOpen, error }: { readonly mayBeOpen: boolean; readonly error: unknown },
): void {
  try {
    assertToolLifecycle(calls, { mayBeOpen });
  } catch (thrown) {
    throw thrown instanceof ProtocolAssertionError ? withCause(thrown, error) : thrown;
  }
}

/** The changes of tool calls. A task at the start has the calls of earlier turns, in their last state. */
function toolEventsIn(list: readonly StreamResponse[]): readonly ToolEvent[] {
  return list.flatMap((event, eventIndex) => {
    if (event.task === undefined) return toolEventsOf(event);
    if (eventIndex > 0) return [];
    return toolEventsOf(event).flatMap((told) => {
      const { id, tool, state } = told.call;
      const isSecond = state === 'approved' || state === 'refused';
      return isSecond ? [{ ...told, call: { id, tool, state: 'requested' as const } }, told] : [told];
    });
  });
}

type IdsOfMember = { readonly taskId?: string; readonly contextId?: string };

type Finding = Omit<AssertionFinding, 'assertion'>;

/** Makes the errors of an assertion. An error of the agent in these events is their cause. */
function finder(assertion: string, seen: Task | AssertedEvents): (finding: Finding) => ProtocolAssertionError {
  return (finding) => withCause(new ProtocolAssertionError({ assertion, ...finding }), errorOf(seen));
}

function isTask(seen: Task | AssertedEvents): seen is Task {
  return Object(seen).status !== undefined;
}

function errorOf(seen: Task | AssertedEvents): unknown {
  if (isTask(seen)) return agentErrorIn([seen]);
  const list = listOf(seen);
  return agentErrorIn([list, ...list]);
}

function listOf(events: AssertedEvents): readonly StreamResponse[] {
  const list: unknown = Object(events).events ?? events;
  if (!Array.isArray(list)) refuseArgument('An assertion', 'a list of events, or a collector of them', events);
  return list;
}

function historyOf(event: StreamResponse): readonly Message[] {
  return event.task !== undefined ? (event.task.history ?? []) : [];
}

/** The first fault of an invalid event. */
function faultOf(event: StreamResponse): string | undefined {
  const [violation] = violationsOf('StreamResponse', event);
  if (violation === undefined) return undefined;
  const { field, description } = violation;
  return field === '' ? `${describeEvent(event)}: ${description}` : `${describeEvent(event)}: ${field} ${description}`;
}

function withReason({ status }: Pick<Task, 'status'>): string {
  const text = (status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');
  const end = isTerminal(status.state) ? '' : ' (not terminal)';
  return text === '' ? `${status.state}${end}` : `${status.state}${end} with "${text}"`;
}

function quote(value: string | undefined): string {
  return value === undefined ? 'none' : `"${value}"`;
}
