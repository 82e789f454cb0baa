import { withAgent } from '../agent/with-agent.js';
import { Conversation } from '../chat/conversation.js';
import type { Invocation } from '../command-line/invocation.js';

/** Talks to an agent line by line; the context goes on from turn to turn, and the task while it waits for a reply. */
export function run(invocation: Invocation): Promise<number> {
  return withAgent(invocation, (agent) => new Conversation(invocation, agent).run());
}
