import { randomUUID } from 'node:crypto';
import type { Task } from 'parley-a2a';
import type { OutgoingMessage, SendInput } from 'parley-a2a/client';
import type { CheckedAgent } from './checks.js';

/** A message whose id tells an agent of the kit what to do, by how it begins. */
export function kitMessage(prefix: string, more: Partial<OutgoingMessage> = {}): Exclude<SendInput, string> {
  return { message: { messageId: `${prefix}-${randomUUID()}`, parts: [{ text: `Please: ${prefix}` }], ...more } };
}

/**
 * The task that becomes of such a message.
 * @throws Error where the agent answers with a message.
 */
export async function kitTask(
  { client, signal }: CheckedAgent,
  prefix: string,
  more?: Partial<OutgoingMessage>,
): Promise<Task> {
  const answer = await client.sendMessage(kitMessage(prefix, more), { signal });
  if ('message' in answer) throw new Error(`${prefix} is answered with a message instead of a task`);
  return answer.task;
}

/** A task that works for some seconds. */
export async function workingTask({ client, signal }: CheckedAgent): Promise<Task> {
  const configuration = { returnImmediately: true };
  const answer = await client.sendMessage({ ...kitMessage('test-resubscribe-message-id'), configuration }, { signal });
  if ('message' in answer) throw new Error('test-resubscribe-message-id is answered with a message instead of a task');
  return answer.task;
}

/** The state as people write it. */
export function stateOf({ status: { state } }: Pick<Task, 'status'>): string {
  return state.replace('TASK_STATE_', '');
}

/**
 * Whether the agent does what the kit's message ids say: of three that ask for different ends at least two have to come so, which no
 * agent does by chance that answers everything alike.
 */
export async function speaksKit({ client, signal }: CheckedAgent): Promise<boolean> {
  const asked = { 'tck-complete-task': 'COMPLETED', 'tck-reject-task': 'REJECTED', 'tck-message-response': 'message' };
  let right = 0;
  for (const [prefix, expected] of Object.entries(asked)) {
    const answer = await client.sendMessage(kitMessage(prefix), { signal }).catch(() => undefined);
    if (answer === undefined) continue;
    if (('message' in answer ? 'message' : stateOf(answer.task)) === expected) right += 1;
  }
  return right > 1;
}
