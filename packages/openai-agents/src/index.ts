export { type AnyOpenAIAgent, type OpenAIAgentOptions, openAIAgent } from './openai-agent.js';
