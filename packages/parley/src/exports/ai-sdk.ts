import type { InProcessAgent } from '../bindings/in-process/in-process-agent.js';
import type { Client } from '../client/client.js';
import type { AgentCard } from '../model/agent-card.js';
import {
  type A2ALanguageModel,
  type A2ALanguageModelOptions,
  agentLanguageModel,
} from '../model-sdks/ai-sdk/a2a-language-model.js';
import { type A2ATool, type A2AToolOptions, agentTool } from '../model-sdks/ai-sdk/a2a-tool.js';
import { BY_VERB } from '../operations/operations.js';
import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import type { ConnectOptions, InProcessPath } from './client.js';

export type { A2ALanguageModel, A2ALanguageModelOptions } from '../model-sdks/ai-sdk/a2a-language-model.js';
export type {
  A2ATool,
  A2AToolFile,
  A2AToolInput,
  A2AToolOptions,
  A2AToolOutput,
} from '../model-sdks/ai-sdk/a2a-tool.js';
export { toAiTools } from '../model-sdks/ai-sdk/ai-tools.js';
export {
  fromStreamText,
  type ShownOptions,
  type StreamedText,
  type StreamTextTurn,
} from '../model-sdks/ai-sdk/from-stream-text.js';
export { type ModelMessagesOptions, toModelMessages } from '../model-sdks/ai-sdk/model-messages.js';
export { MODEL_OUTPUT_EXTENSION } from '../model-sdks/ai-sdk/model-output.js';
export {
  type StreamTextAgentOptions,
  type StreamTextAgentSource,
  streamTextAgent,
} from '../model-sdks/ai-sdk/stream-text-agent.js';

/** An agent to call: a client, a url, a card, or a server object of the same process. */
export type CalledAgent = Client | string | AgentCard | InProcessAgent;

/** Settings for the connection to the agent, which a client has already. */
export interface ConnectionOptions {
  readonly connection?: ConnectOptions & InProcessPath;
}

/**
 * An agent as a tool of the AI SDK, for `generateText` and `streamText`. Finds the card of the agent, whose description
 * goes to the model unless the options have one. An abort cancels the task of the agent.
 * @throws AgentCardError if no card is found.
 */
export async function a2aTool(
  agent: CalledAgent,
  { connection, ...options }: A2AToolOptions & ConnectionOptions = {},
): Promise<A2ATool> {
  return agentTool(await clientOf(agent, connection), options);
}

/**
 * An agent as a language model of the AI SDK. The first call finds the card. A call goes on in the context of the last
 * answer among its messages, and with its task if that asks for input. `providerOptions.a2a` names others.
 */
export function a2aLanguageModel(
  agent: CalledAgent,
  { connection, ...options }: A2ALanguageModelOptions & ConnectionOptions = {},
): A2ALanguageModel {
  const client = new LoadedOnDemand(() => clientOf(agent, connection));
  return agentLanguageModel({ modelId: nameOf(agent), client: () => client.get() }, options);
}

async function clientOf(agent: CalledAgent, options: ConnectionOptions['connection'] = {}): Promise<Client> {
  if (typeof agent === 'object' && BY_VERB.send in agent) return agent;
  const { connect } = await import('./client.js');
  return connect(agent, options);
}

function nameOf(agent: CalledAgent): string {
  if (typeof agent === 'string') return agent;
  if (BY_VERB.send in agent) return agent.card.name;
  return 'name' in agent ? agent.name : 'agent';
}
