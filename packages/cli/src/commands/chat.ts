import { withAgent } from '../agent/with-agent.js';
import { Conversation } from '../chat/conversation.js';
import type { Invocation } from '../command-line/invocation.js';

/** Talks to an agent line by line. All turns share a context; a task continues while it waits for a reply. */
export function run(invocation: Invocation): Promise<number> {
  return withAgent(invocation, (agent) => new Conversation(invocation, agent).run());
}
