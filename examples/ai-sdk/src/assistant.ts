import { isStepCount, jsonSchema, type LanguageModel, tool } from 'ai';
import type { AgentExecutor } from 'parley-a2a/server';
import { streamTextAgent } from 'parley-a2a-ai-sdk';

const currentTime = tool({
  description: 'The current date and time in UTC.',
  inputSchema: jsonSchema<Record<string, never>>({ type: 'object', properties: {} }),
  execute: () => new Date().toISOString(),
});

/** An agent that answers by a language model, remembers the conversation, and can tell the time. */
export function assistant(model: LanguageModel): AgentExecutor {
  return streamTextAgent({
    model,
    instructions: 'You are a helpful assistant. Answer briefly.',
    tools: { currentTime },
    stopWhen: isStepCount(5),
  });
}
