import type { streamText, ToolSet } from 'ai';
import { missingPackage } from '../../errors/missing-package.js';
import type { Clock } from '../../runtime/clock.js';
import type { AgentExecutor } from '../../server/agent-executor.js';
import type { RequestContext } from '../../server/request-context.js';
import { runTools } from '../../tools/tool-agent.js';
import { TOOLS_CARD_EXTENSION } from '../../tools/tool-records.js';
import { ToolRegistry } from '../../tools/tool-registry.js';
import { toAiTools } from './ai-tools.js';
import { asksAgain, fromStreamText, type ShownOptions, type TimedTurn } from './from-stream-text.js';
import { type ModelMessagesOptions, toModelMessages } from './model-messages.js';

/** Steps of an answer, if the author gives no `stopWhen`. */
const STEPS = 20;

/** Settings of `streamText`, without those that the turn gives. */
export type StreamTextSettings = Omit<
  Parameters<typeof streamText>[0],
  'prompt' | 'messages' | 'abortSignal' | 'tools'
>;

/** The settings of the model, and the place of its answer in the task. */
export type StreamTextAgentOptions = StreamTextSettings & {
  /**
   * Tools of the AI SDK, or a registry of `parley-a2a/tools`. Both may ask the owner of the task for an approval, whose
   * answer may reach another process.
   */
  readonly tools?: ToolSet | ToolRegistry;
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
export function streamTextAgent(source: StreamTextAgentSource, clock: Clock): AgentExecutor {
  return {
    ...(mayUseTools(source) && { extensions: [TOOLS_CARD_EXTENSION] }),
    async execute(context, events) {
      await events.working();
      const options = typeof source === 'function' ? await source(context) : source;
      const { tools, ...settings } = options;
      if (!(tools instanceof ToolRegistry)) {
        const turn = { context, events, clock };
        return (await asksAgain(turn)) ? undefined : answer(turn, { ...settings, ...(tools && { tools }) });
      }
      await runTools(context, events, tools, async (run) => {
        await run.resume();
        await answer({ context, events, clock, run }, { ...settings, tools: await toAiTools(run, tools) });
      });
    },
  };
}

function mayUseTools(source: StreamTextAgentSource): boolean {
  return typeof source === 'function' || source.tools !== undefined;
}

type AnswerOptions = Omit<StreamTextAgentOptions, 'tools'> & { readonly tools?: ToolSet };

async function answer(
  turn: Pick<TimedTurn, 'context' | 'events' | 'clock' | 'run'>,
  { conversation, shows, stopWhen = [], ...settings }: AnswerOptions,
): Promise<void> {
  const { streamText: call } = await import('ai').catch(missingPackage('This agent needs', 'ai'));
  const { context, clock, run } = turn;
  const left = new AbortController();
  const stops = Array.isArray(stopWhen) ? stopWhen : [stopWhen];
  // Without a rule of the author, an answer with tools ends after as many steps as below.
  const own = stops.length > 0 ? stops : [({ steps }: { readonly steps: readonly unknown[] }) => steps.length >= STEPS];
  const result = call({
    // By default the AI SDK prints errors. The server logs them already.
    onError: () => {},
    ...settings,
    stopWhen: [...own, () => run !== undefined && run.waiting.length > 0],
    messages: await toModelMessages(context, { ...conversation, clock, ...(run && { run }) }),
    abortSignal: AbortSignal.any([context.signal, left.signal]),
  });
  try {
    await fromStreamText(result, { ...shows, ...turn });
  } finally {
    // A task may fail before the model ends, such as by too many calls.
    left.abort();
  }
}
