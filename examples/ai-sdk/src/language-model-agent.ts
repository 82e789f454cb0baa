import { type LanguageModel, type ModelMessage, streamText } from 'ai';
import { type AgentExecutor, agent, type ConversationEntry } from 'parley-a2a/server';

/** A model of the AI SDK, and its instructions for each message. */
export interface LanguageModelAgentOptions {
  readonly model: LanguageModel;
  readonly instructions?: string;
}

/**
 * An agent that answers with the text of a language model. The model gets the conversation of the context. The answer
 * is an artifact that grows with every delta. A cancel stops the model. An error of the model fails the task without
 * details for the caller.
 */
export function languageModelAgent({ model, instructions }: LanguageModelAgentOptions): AgentExecutor {
  return agent(async (_prompt, context) =>
    streamText({
      model,
      messages: messagesOf(await context.conversation()),
      abortSignal: context.signal,
      ...(instructions !== undefined && { instructions }),
      // By default the AI SDK prints errors. The server logs them already.
      onError: () => {},
    }),
  );
}

/** Entries without text, such as files, are left out. */
function messagesOf(entries: readonly ConversationEntry[]): ModelMessage[] {
  return entries
    .filter(({ text }) => text !== '')
    .map(({ role, text: content }) => ({ role: role === 'agent' ? 'assistant' : 'user', content }));
}
