import { type LanguageModel, type LanguageModelUsage, streamText } from 'ai';
import type { AgentExecutor } from 'parley-a2a/server';

/** A model of the AI SDK, and what it is told before each message. */
export interface LanguageModelAgentOptions {
  readonly model: LanguageModel;
  readonly instructions?: string;
}

/**
 * Answers with what a language model says: an artifact that grows with every delta of its text. A cancel stops the model; an
 * error of it fails the task, and the caller learns no more than that.
 */
export function languageModelAgent({ model, instructions }: LanguageModelAgentOptions): AgentExecutor {
  return {
    async execute({ text, signal }, events) {
      await events.working();
      const { fullStream, totalUsage } = streamText({
        model,
        prompt: text,
        abortSignal: signal,
        ...(instructions !== undefined && { instructions }),
        // The AI SDK prints errors by itself; here they are thrown below, and the engine logs them.
        onError: () => {},
      });
      let answer: string | undefined;
      for await (const part of fullStream) {
        if (part.type === 'abort') return;
        if (part.type === 'error') throw part.error;
        if (part.type !== 'text-delta') continue;
        if (answer === undefined) answer = await events.artifact(part.text, { name: 'answer' });
        else await events.append(answer, part.text);
      }
      await events.complete(undefined, { metadata: { usage: tokensOf(await totalUsage) } });
    },
  };
}

function tokensOf({ inputTokens = 0, outputTokens = 0 }: LanguageModelUsage) {
  return { inputTokens, outputTokens };
}
