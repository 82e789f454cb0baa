import { type LanguageModel, streamText } from 'ai';
import { type AgentExecutor, agent } from 'parley-a2a/server';

/** A model of the AI SDK, and its instructions for each message. */
export interface LanguageModelAgentOptions {
  readonly model: LanguageModel;
  readonly instructions?: string;
}

/**
 * An agent that answers with the text of a language model. The answer is an artifact that grows with every delta. A
 * cancel stops the model. An error of the model fails the task without details for the caller.
 */
export function languageModelAgent({ model, instructions }: LanguageModelAgentOptions): AgentExecutor {
  return agent((prompt, { signal }) =>
    streamText({
      model,
      prompt,
      abortSignal: signal,
      ...(instructions !== undefined && { instructions }),
      // By default the AI SDK prints errors. The server logs them already.
      onError: () => {},
    }),
  );
}
