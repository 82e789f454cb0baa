import { isObject, type JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { LogRecord } from '../task/log-record.js';
import { AGENT_CALLS_EXTENSION } from './call-chain.js';

/** The record of a call in the caller's own task. Only events of the agent itself contain such records. */
export interface CallRecord {
  /** The name of the call within its turn. */
  readonly call: string;
  /** A hash of the place that was called. */
  readonly callee: string;
  /** The task of the callee. */
  readonly taskId: string;
  readonly contextId?: string;
}

/** A record as metadata. */
export function recordMetadata(record: CallRecord): JsonObject {
  return { [AGENT_CALLS_EXTENSION]: { ...record } };
}

/** The task of a call that an earlier attempt of the turn has begun. */
export function begunCall(
  records: readonly LogRecord[],
  { call, callee }: Pick<CallRecord, 'call' | 'callee'>,
): CallRecord | undefined {
  for (const { event } of records) {
    const found = event.statusUpdate !== undefined ? recordIn(event.statusUpdate.metadata) : undefined;
    if (found?.call === call && found.callee === callee) return found;
  }
  return undefined;
}

/**
 * The call whose question a message answers, if the question came from that callee. `call`: only a call with this name.
 */
export function askedCall(
  question: Message | undefined,
  { call, callee }: { readonly call: string | undefined; readonly callee: string },
): CallRecord | undefined {
  const found = recordIn(question?.metadata);
  if (found?.callee !== callee) return undefined;
  return call === undefined || found.call === call ? found : undefined;
}

function recordIn(metadata: JsonObject | undefined): CallRecord | undefined {
  const record = metadata?.[AGENT_CALLS_EXTENSION];
  if (!isObject(record)) return undefined;
  const { call, callee, taskId, contextId } = record;
  if (typeof call !== 'string' || typeof callee !== 'string' || typeof taskId !== 'string') return undefined;
  return { call, callee, taskId, ...(typeof contextId === 'string' && { contextId }) };
}
