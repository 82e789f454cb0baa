export { type AnyOpenAIAgent, type OpenAIAgentOptions, openAIAgent } from '../model-sdks/openai-agents/openai-agent.js';
