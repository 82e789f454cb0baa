import { Handoff } from '@openai/agents';
import type { ConversationEntry } from 'parley-a2a/server';
import type { AnyOpenAIAgent } from './openai-agent.js';

/** The agents of a run by their names: the first one, and all that hand-offs can reach. */
export type RunAgents = ReadonlyMap<string, AnyOpenAIAgent>;

/** The agents that a run may use. */
export function runAgents(first: AnyOpenAIAgent): RunAgents {
  const found = new Map<string, AnyOpenAIAgent>();
  const take = (agent: AnyOpenAIAgent): void => {
    if (found.has(agent.name)) return;
    found.set(agent.name, agent);
    for (const next of agent.handoffs) take(next instanceof Handoff ? next.agent : next);
  };
  take(first);
  return found;
}

/** The member in the metadata of an artifact that names its last agent. */
const MEMBER = 'agent';

/** The metadata of an artifact of an agent. */
export function agentMetadata(name: string): { readonly [MEMBER]: string } {
  return { [MEMBER]: name };
}

/** The agent that gave the last answer in a conversation. `undefined` if no agent of the run did. */
export function lastAgentIn(entries: readonly ConversationEntry[], agents: RunAgents): AnyOpenAIAgent | undefined {
  const names = entries.map(({ artifact }) => artifact?.metadata?.[MEMBER]);
  const last = names.findLast((name) => typeof name === 'string' && agents.has(name));
  return typeof last === 'string' ? agents.get(last) : undefined;
}
