import { randomUUID } from 'node:crypto';
import type { OutgoingMessage, SendAnswer, Task, TestedAgent } from '../tested-agent.js';

/** A message whose id has the prefix of a scenario, which an agent of the kit then plays. */
export function kitMessage(prefix: string, more: OutgoingMessage = {}): OutgoingMessage {
  return { messageId: `${prefix}-${randomUUID()}`, parts: [{ text: `Please: ${prefix}` }], ...more };
}

/**
 * Plays a scenario and returns its task.
 * @throws Error if the agent answers with a message.
 */
export async function kitTask(agent: TestedAgent, prefix: string, more?: OutgoingMessage): Promise<Task> {
  return taskOf(await agent.send(kitMessage(prefix, more)), prefix);
}

/** Begins a task that the agent works on for some seconds. */
export async function workingTask(agent: TestedAgent): Promise<Task> {
  const prefix = 'test-resubscribe-message-id';
  return taskOf(await agent.send(kitMessage(prefix), { returnImmediately: true }), prefix);
}

function taskOf(answer: SendAnswer, prefix: string): Task {
  if ('message' in answer) throw new Error(`${prefix} is answered with a message instead of a task`);
  return answer.task;
}

/**
 * Returns true if the agent plays the scenarios of the kit. At least two of three different endings have to be right,
 * so that an agent that answers all messages alike does not count.
 */
export async function playsKit(agent: TestedAgent): Promise<boolean> {
  const endings = {
    'tck-complete-task': 'COMPLETED',
    'tck-reject-task': 'REJECTED',
    'tck-message-response': 'message',
  };
  let right = 0;
  for (const [prefix, expected] of Object.entries(endings)) {
    const answer = await agent.send(kitMessage(prefix)).catch(() => undefined);
    if (answer === undefined) continue;
    if (('message' in answer ? 'message' : answer.task.status.state) === expected) right += 1;
  }
  return right > 1;
}
