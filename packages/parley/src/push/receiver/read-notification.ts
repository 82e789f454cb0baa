import { clientV1_0 } from '../../codec/v1_0/client-codec.js';
import { isObject } from '../../model/json.js';
import type { StreamResponse } from '../../model/stream-response.js';

/** The event of a notification, and the protocol version of its body. */
interface ReadNotification {
  readonly event: StreamResponse;
  readonly version: '1.0' | '0.3';
}

const KINDS = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/**
 * Reads the body of a notification: one StreamResponse of 1.0 (Spec §4.3.3), or a task or event of 0.3, which has a
 * `kind`. Unknown members are ignored.
 * @throws Error naming the fault.
 */
export async function readNotification(text: string): Promise<ReadNotification> {
  const body = parse(text);
  if (isObject(body) && typeof body.kind === 'string') {
    const { clientV0_3JsonRpc } = await import('../../codec/v0_3/client-codec.js');
    return { event: requireKnown(clientV0_3JsonRpc.decodeEvent(body)), version: '0.3' };
  }
  const kinds = isObject(body) ? KINDS.filter((kind) => kind in body) : [];
  if (kinds.length !== 1) throw new Error(`the body has none, or several, of ${KINDS.join(', ')}`);
  return { event: requireKnown(clientV1_0.decodeEvent(body)), version: '1.0' };
}

/** The id of the task that an event is about. */
export function taskIdOf(event: StreamResponse): string | undefined {
  if (event.task !== undefined) return event.task.id;
  if (event.message !== undefined) return event.message.taskId;
  return event.statusUpdate !== undefined ? event.statusUpdate.taskId : event.artifactUpdate.taskId;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the body is no JSON');
  }
}

function requireKnown(event: StreamResponse | undefined): StreamResponse {
  if (event === undefined) throw new Error('the body is no event of a task');
  return event;
}
