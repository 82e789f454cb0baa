import type { ModelMessage, streamText, ToolResultPart, ToolSet } from 'ai';
import {
  isObject,
  OptionsError,
  recordedCalls,
  TOOLS_ARTIFACT,
  TOOLS_CARD_EXTENSION,
  ToolRegistry,
  waitingCalls,
} from 'parley-a2a/kit';
import type { AgentExecutor, RequestContext } from 'parley-a2a/server';
import { runTools } from 'parley-a2a/tools';
import { toAiTools } from './ai-tools.js';
import { asksAgain, fromStreamText, type ShownOptions, type TimedTurn } from './from-stream-text.js';
import { type ModelMessagesOptions, toModelMessages } from './model-messages.js';
import { type PresentCalls, recordedSteps } from './recorded-tools.js';
import { type KeptAnswer, StepCheckpoints } from './step-checkpoints.js';
import { StepCounts } from './step-counts.js';
import { type SeenResult, ToolRecorder } from './tool-recorder.js';

/** Maximum number of steps of an answer, if the author gives no `stopWhen`. */
const STEPS = 20;

/** Settings of `streamText`, without those that each turn sets. */
type StreamTextSettings = Omit<Parameters<typeof streamText>[0], 'prompt' | 'messages' | 'abortSignal' | 'tools'>;

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

/** Settings for every message, or a function that chooses them for each. */
export type StreamTextAgentSource =
  | StreamTextAgentOptions
  | ((context: RequestContext) => StreamTextAgentOptions | Promise<StreamTextAgentOptions>);

/** Options of the agent itself. */
export interface StreamTextAgentBehavior {
  /**
   * True if an answer resumes after its last finished step, if the process dies. A step is one call of the model with
   * the tools that it calls. Needs a durable storage. Default: false, the task is FAILED.
   */
  readonly resumable?: boolean;
}

const TOO_LARGE = 'The process of the agent ended, and the messages of the model were too large to go on from.';
const INTERRUPTED = 'The process of the agent ended while approved calls ran. Their effects are not known.';

/**
 * Makes an agent that answers by `streamText`. The model gets the conversation of the context. A cancel and the
 * deadline of the turn stop the model. An error of the model fails the task, and its text is only logged.
 * @throws OptionsError for settings without a model, and for `resumable` among them.
 */
export function streamTextAgent(
  source: StreamTextAgentSource,
  { resumable = false }: StreamTextAgentBehavior = {},
): AgentExecutor {
  if (typeof source !== 'function') checkSettings(source);
  return {
    resumable,
    ...(mayUseTools(source) && { extensions: [TOOLS_CARD_EXTENSION] }),
    async execute(context, events) {
      await events.working();
      const options = typeof source === 'function' ? await source(context) : source;
      const { tools, ...settings } = options;
      const left = new AbortController();
      const checkpoints = resumable ? new StepCheckpoints(context, left.signal) : undefined;
      const kept = checkpoints?.restore();
      if (kept?.kind === 'too large') return void (await events.fail(TOO_LARGE));
      const turn = { context, events, left, ...(checkpoints && { checkpoints }), ...keptTurn(kept) };
      if (tools instanceof ToolRegistry) {
        await runTools(context, events, tools, async (run) => {
          await run.resume();
          await answer({ ...turn, run }, { ...settings, tools: await toAiTools(run, tools) });
        });
        return;
      }
      if (kept?.kind !== 'kept') {
        if (context.attempt > 1 && mayHaveRun(context)) return void (await events.fail(INTERRUPTED));
        if (await asksAgain(turn)) return;
      }
      await answer(turn, { ...settings, ...(tools && { tools: checkpoints?.recordedFirst(tools) ?? tools }) });
    },
  };
}

/** True if approved calls may have run before the model was called. They run only after all calls are answered. */
function mayHaveRun({ task }: RequestContext): boolean {
  const calls = [...recordedCalls(task).values()];
  return calls.some(({ state }) => state === 'approved') && waitingCalls(calls).length === 0;
}

function checkSettings(settings: unknown): void {
  if (!isObject(settings) || settings.model === undefined)
    throw new OptionsError('streamTextAgent', ['model: is required']);
  if ('resumable' in settings)
    throw new OptionsError('streamTextAgent', ['resumable: belongs to the agent, so give it in the second argument']);
}

function keptTurn(kept: KeptAnswer | undefined): Pick<AnswerTurn, 'kept' | 'messages'> {
  return kept?.kind === 'kept' ? { kept: kept.answer, messages: kept.messages } : {};
}

function mayUseTools(source: StreamTextAgentSource): boolean {
  return typeof source === 'function' || source.tools !== undefined;
}

type AnswerOptions = Omit<StreamTextAgentOptions, 'tools'> & { readonly tools?: ToolSet };

type AnswerTurn = Pick<TimedTurn, 'context' | 'events' | 'run' | 'checkpoints' | 'kept'> & {
  /** Aborted when the answer is no longer read. */
  readonly left: AbortController;
  /** The messages of an earlier attempt. */
  readonly messages?: readonly ModelMessage[];
};

async function answer(
  { left, messages: known, ...turn }: AnswerTurn,
  { conversation, shows, stopWhen = [], prepareStep, ...settings }: AnswerOptions,
): Promise<void> {
  const { streamText: call } = await import('ai');
  const { context, run, checkpoints, kept } = turn;
  const stops = Array.isArray(stopWhen) ? stopWhen : [stopWhen];
  const most = STEPS - Number(kept?.steps ?? 0);
  // Without a rule of the author, an answer with tools ends after `STEPS` steps.
  const own = stops.length > 0 ? stops : [({ steps }: { readonly steps: readonly unknown[] }) => steps.length >= most];
  const messages = known
    ? [...known, ...(await stepUnderWay({ ...turn, messages: known, isOn: shows?.toolCalls ?? true }))]
    : await toModelMessages(context, { ...conversation, ...(run && { run }) });
  const counts = new StepCounts(context);
  const countAndPrepare: typeof prepareStep = async (step) => {
    await counts.before(step.steps);
    await checkpoints?.save(step.stepNumber, step.messages);
    return prepareStep?.(step);
  };
  const result = call({
    // By default the AI SDK prints errors, which the server has logged already.
    onError: () => {},
    ...settings,
    prepareStep: countAndPrepare,
    stopWhen: [...own, () => run !== undefined && run.waiting.length > 0],
    messages,
    abortSignal: AbortSignal.any([context.signal, left.signal]),
  });
  try {
    await fromStreamText(result, { ...shows, ...turn, counts });
  } finally {
    // A task may fail before the model ends, such as by too many calls.
    left.abort();
  }
}

/** A turn whose earlier attempt ended within a step. */
interface InterruptedTurn extends Pick<TimedTurn, 'context' | 'events' | 'run'> {
  /** The messages of that step. */
  readonly messages: readonly ModelMessage[];
  /** False if the task does not record the calls of the AI SDK. */
  readonly isOn: boolean;
}

/**
 * The calls of the interrupted step with their results, as messages for the next step. A call without a result has
 * failed: it may have had its effect, so it is not repeated.
 */
async function stepUnderWay({ run, messages, isOn, ...turn }: InterruptedTurn): Promise<ModelMessage[]> {
  const seen = resultsIn(messages);
  const present: PresentCalls =
    run === undefined
      ? await new ToolRecorder({ ...turn, hasRun: false, isOn, isResumed: true }).endInterrupted(seen)
      : new Map(run.calls.map((call) => [call.id, call]));
  const records = turn.context.task?.artifacts?.find(({ artifactId }) => artifactId === TOOLS_ARTIFACT.artifactId);
  const isRead = (id: string) => present.has(id) && !seen.has(id);
  return recordedSteps(records?.parts ?? [], { present, isRead }).flatMap(({ calls, results }): ModelMessage[] => [
    { role: 'assistant', content: [...calls] },
    { role: 'tool', content: [...results] },
  ]);
}

/** The results that the model has got, by the ids of the calls. */
function resultsIn(messages: readonly ModelMessage[]): ReadonlyMap<string, SeenResult> {
  const found = new Map<string, SeenResult>();
  for (const { role, content } of messages) {
    if (role !== 'tool') continue;
    for (const part of content) if (part.type === 'tool-result') found.set(part.toolCallId, resultOf(part.output));
  }
  return found;
}

/** The text of an error is for the model only. */
function resultOf(output: ToolResultPart['output']): SeenResult {
  switch (output.type) {
    case 'execution-denied':
      return { reason: 'refused' };
    case 'error-text':
    case 'error-json':
      return { reason: 'threw' };
    case 'text':
    case 'json':
    case 'content':
      return { output: output.value };
  }
}
