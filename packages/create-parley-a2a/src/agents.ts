import { aiSdk } from './agents/ai-sdk.js';
import { http } from './agents/http.js';
import { langgraph } from './agents/langgraph.js';
import { openAIAgents } from './agents/openai-agents.js';
import { plain } from './agents/plain.js';
import { tools } from './agents/tools.js';
import type { AgentPart } from './part.js';
import type { Choice } from './questions.js';

/** Every agent. */
export const AGENTS: Readonly<Record<Choice<'agent'>, AgentPart>> = {
  plain,
  'ai-sdk': aiSdk,
  langgraph,
  'openai-agents': openAIAgents,
  tools,
  http,
};
