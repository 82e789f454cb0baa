import { refuseArgument } from 'parley-a2a/kit';
import type { ToolCall, ToolCallState, ToolEvent } from 'parley-a2a/tools';
import { ProtocolAssertionError } from './protocol-assertion-error.js';

/** The states that may follow each state. A run may begin again after its process died, or after a question. */
const NEXT: Readonly<Record<ToolCallState, readonly ToolCallState[]>> = {
  requested: ['approved', 'running', 'failed', 'refused', 'canceled'],
  approved: ['requested', 'running', 'succeeded', 'failed', 'refused', 'canceled'],
  running: ['requested', 'running', 'succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  refused: [],
  canceled: [],
};

/** The first states of a call in its task, which may record a short run only at its end. */
const FIRST_IN_TASK: readonly ToolCallState[] = ['requested', 'running', 'succeeded', 'failed'];

/** SDKs of models may report no start of a run, and a call before its approval. */
const AFTER_REQUEST_IN_TASK: readonly ToolCallState[] = [...NEXT.requested, 'requested', 'succeeded'];

/** The checks of `assertToolLifecycle`. */
export interface ToolLifecycleOptions {
  /** The only tool, or the id of the only call, to check. Default: all calls. */
  readonly only?: string;
  /** The final state of every call. Default: any. */
  readonly ends?: 'succeeded' | 'failed' | 'refused' | 'canceled';
  /** True: a call may still be open at the end. Default: every call ends. */
  readonly mayBeOpen?: boolean;
}

/**
 * Asserts that every tool call goes from `requested` over its approval and its run to one end, with the same tool. A
 * call that succeeded has a result, and one that did not has a failure. The events are those of `onEvent`, or of a
 * stream by `toolEventsOf`.
 * @throws ProtocolAssertionError otherwise, and if there is no call.
 */
export function assertToolLifecycle(events: readonly ToolEvent[], options: ToolLifecycleOptions = {}): void {
  if (!Array.isArray(events)) refuseArgument('assertToolLifecycle', 'a list of events of tools', events);
  const { only, ends, mayBeOpen = ends === undefined ? false : undefined } = options;
  const last = new Map<string, { readonly call: ToolCall; readonly eventIndex: number }>();
  for (const [eventIndex, event] of events.entries()) {
    const { call } = event;
    if (only !== undefined && call.tool !== only && call.id !== only) continue;
    checkStep(last.get(call.id)?.call, event, eventIndex);
    last.set(call.id, { call, eventIndex });
  }
  if (last.size === 0)
    throw failure({ expected: only === undefined ? 'a call of a tool' : `a call of ${only}`, actual: 'none' });
  for (const { call, eventIndex } of last.values()) {
    const isOpen = NEXT[call.state].length > 0;
    if (isOpen && mayBeOpen !== true)
      throw failure({ eventIndex, expected: `an end of ${shownCall(call)}`, actual: 'no more' });
    if (ends !== undefined && call.state !== ends) {
      throw failure({ eventIndex, expected: `${shownCall(call, ends)}`, actual: withFailure(call) });
    }
  }
}

function checkStep(before: ToolCall | undefined, { call, taskId }: ToolEvent, eventIndex: number): void {
  const actual = shownCall(call);
  const first: readonly ToolCallState[] = taskId === undefined ? ['requested'] : FIRST_IN_TASK;
  if (before === undefined && !first.includes(call.state)) {
    throw failure({ eventIndex, expected: shownCall(call, first.join(' or ')), actual });
  }
  if (before !== undefined && before.tool !== call.tool) {
    throw failure({ eventIndex, expected: `call ${call.id} of ${before.tool}`, actual });
  }
  const isSdkRequest = before?.state === 'requested' && taskId !== undefined;
  const next = isSdkRequest ? AFTER_REQUEST_IN_TASK : NEXT[before?.state ?? call.state];
  if (before !== undefined && !next.includes(call.state)) {
    const expected = next.length === 0 ? 'nothing' : next.join(' or ');
    throw failure({ eventIndex, expected: `${expected} after ${before.state}`, actual });
  }
  if (before !== undefined && call.state === 'requested' && call.question === undefined) {
    throw failure({ eventIndex, expected: `a question of ${actual}`, actual: 'none' });
  }
  if (call.state === 'succeeded' && call.output === undefined) {
    throw failure({ eventIndex, expected: `a result of ${actual}`, actual: 'none' });
  }
  const hasFailed = call.state === 'failed' || call.state === 'refused' || call.state === 'canceled';
  if (hasFailed !== (call.failure !== undefined)) {
    throw failure({
      eventIndex,
      expected: `${hasFailed ? 'a' : 'no'} failure of ${actual}`,
      actual: withFailure(call),
    });
  }
}

function failure(finding: { readonly eventIndex?: number; readonly expected: string; readonly actual: string }) {
  return new ProtocolAssertionError({ assertion: 'assertToolLifecycle', ...finding });
}

function shownCall({ id, tool, state }: ToolCall, shown: string = state): string {
  return `${tool} (call ${id}) ${shown}`;
}

function withFailure(call: ToolCall): string {
  return call.failure === undefined ? shownCall(call) : `${shownCall(call)}: ${call.failure.message}`;
}
