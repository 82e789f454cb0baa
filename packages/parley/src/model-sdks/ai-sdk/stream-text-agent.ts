import type { streamText } from 'ai';
import { missingPackage } from '../../errors/missing-package.js';
import type { AgentExecutor } from '../../server/agent-executor.js';
import type { RequestContext } from '../../server/request-context.js';
import { fromStreamText, type ShownOptions } from './from-stream-text.js';
import { type ModelMessagesOptions, toModelMessages } from './model-messages.js';

/** Settings of `streamText`, without those that the turn gives. */
export type StreamTextSettings = Omit<Parameters<typeof streamText>[0], 'prompt' | 'messages' | 'abortSignal'>;

/** The settings of the model, and the place of its answer in the task. */
export type StreamTextAgentOptions = StreamTextSettings & {
  /** The part of the conversation that the model gets. Default: its newest 100 entries. */
  readonly conversation?: ModelMessagesOptions;
  /** The parts of the answer that the caller sees. */
  readonly shows?: ShownOptions;
};

/** The same for every message, or chosen for each. */
export type StreamTextAgentSource =
  | StreamTextAgentOptions
  | ((context: RequestContext) => StreamTextAgentOptions | Promise<StreamTextAgentOptions>);

/**
 * An agent that answers by `streamText`. The model gets the conversation of the context. A cancel and the deadline of
 * the turn stop the model. An error of the model fails the task, and only the log has its text.
 */
export function streamTextAgent(source: StreamTextAgentSource): AgentExecutor {
  return {
    async execute(context, events) {
      await events.working();
      const { streamText: call } = await import('ai').catch(missingPackage('This agent needs', 'ai'));
      const { conversation, shows, ...settings } = typeof source === 'function' ? await source(context) : source;
      const messages = await toModelMessages(context, conversation);
      const result = call({
        // By default the AI SDK prints errors. The server logs them already.
        onError: () => {},
        ...settings,
        messages,
        abortSignal: context.signal,
      });
      await fromStreamText(result, { ...shows, context, events });
    },
  };
}
