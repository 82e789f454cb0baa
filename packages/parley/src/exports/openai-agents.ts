import { openAIAgent as makeOpenAIAgent, type OpenAIAgentOptions } from '../model-sdks/openai-agents/openai-agent.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import { systemClock } from './runtime.js';

export type { AnyOpenAIAgent, OpenAIAgentOptions } from '../model-sdks/openai-agents/openai-agent.js';

/**
 * Makes an A2A agent of an agent of the OpenAI Agents SDK. The text of the model becomes an artifact that grows. Tools
 * that need an approval make the task INPUT_REQUIRED, and the answer of the caller resumes the run. A cancel and the
 * deadline abort the run. A guardrail rejects or fails the task and names itself. Other errors stay in the log.
 * @throws OptionsError for keys that are none, and for a runner that traces without `tracing`.
 */
export function openAIAgent(options: OpenAIAgentOptions): AgentExecutor {
  return makeOpenAIAgent(options, systemClock);
}
