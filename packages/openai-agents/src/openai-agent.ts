import {
  type AgentInputItem,
  type CallModelInputFilter,
  RunContext,
  Runner,
  RunState,
  type RunStreamEvent,
  type RunToolApprovalItem,
  type run,
  type Session,
  type StreamedRunResult,
  UserError,
  user,
} from '@openai/agents';
import type { JsonObject, Message } from 'parley-a2a';
import {
  approvalQuestion,
  checkOptions,
  DEFAULT_TOOL_LIMITS,
  flag,
  func,
  type OptionSchemas,
  OptionsError,
  optionObject,
  positive,
  providerUsage,
  TOOLS_CARD_EXTENSION,
  Type,
  UNDECIDED,
  withMethod,
} from 'parley-a2a/kit';
import type { AgentExecutor, EventQueue, RequestContext, TokenUsage } from 'parley-a2a/server';
import { conversationItems, messageItem } from './agent-input.js';
import { answersIn, approvalOf, callIdOf, reusedId } from './approval-question.js';
import { guardTools, itemsOf, type MadeCall, outputOf, recordCalls } from './recorded-calls.js';
import { agentMetadata, lastAgentIn, type RunAgents, runAgents } from './run-agents.js';
import { RunAnswer } from './run-answer.js';
import { RunCheckpoints } from './run-checkpoints.js';
import { runFailureOf } from './run-failure.js';
import { SealedRunStates } from './sealed-run-state.js';

/** An agent of the OpenAI Agents SDK, with any context and output. */
export type AnyOpenAIAgent = Parameters<typeof run>[0];

/** An agent of the OpenAI Agents SDK, and its runs. */
export interface OpenAIAgentOptions {
  readonly agent: AnyOpenAIAgent;
  /** Runs the agent. Default: a runner without tracing. */
  readonly runner?: Runner;
  /** The input for a message. Default: the conversation of the context, or the message if there is a session. */
  readonly input?: (context: RequestContext) => string | AgentInputItem[] | Promise<string | AgentInputItem[]>;
  /**
   * Maximum bytes of files of this server that the model gets, those of the newest messages first. Urls of others stay
   * urls. Default: 16 MiB. The state of a run contains them, too: see `maxStateChars`.
   */
  readonly fileBytes?: number;
  /** Returns the session that stores the conversation. Default: none, the model gets `context.conversation()`. */
  readonly session?: (context: RequestContext) => Session | Promise<Session>;
  /** Makes the context of the run for tools and guardrails, such as the user or the turn. Called for each turn. */
  readonly runContext?: (context: RequestContext) => unknown;
  /** Maximum number of model calls in a turn. Default: that of the SDK. */
  readonly maxTurns?: number;
  /** Shows calls of tools and hand-offs, by name, as metadata of a status. Default: true. */
  readonly steps?: boolean;
  /** True lets the SDK trace runs. Its exporter sends traces to OpenAI. Default: false. */
  readonly tracing?: boolean;
  /**
   * Keys of 32 bytes in base64 or hex, for the states of runs that wait for approvals. The first encrypts, and all
   * decrypt. Default: a random key. Runs that wait then end with the process.
   */
  readonly secretKeys?: readonly string[];
  /** Maximum number of characters of a stored run state. Default: 262,144. */
  readonly maxStateChars?: number;
  /** Time limit for an approval, in ms. Default: 86,400,000. */
  readonly approvalMs?: number;
  /**
   * True if a run resumes after its last finished step, if its process dies. A step is one call of the model with the
   * tools that it calls. Calls of the interrupted step do not run again, unless their tool is `idempotent`. The model
   * gets their results, or that they were interrupted. Default: false, the task is FAILED.
   */
  readonly resumable?: boolean;
  /** Returns whether a tool may run twice, by its name. Such calls run again after a crash. Default: none. */
  readonly idempotent?: (tool: string) => boolean;
}

const NONE = () => false;
const MAX_STATE_CHARS = 262_144;
const LOST = 'The agent no longer knows this question. Start a new task.';
const TOO_LARGE = 'The agent cannot wait for an approval: the state of its run is too large.';
const TOO_LARGE_TO_RESUME = 'The process of the agent ended, and the state of the run was too large to go on from.';
const REUSED = 'The model gave two calls the same id. Start a new task.';

const amount = Type.Optional(positive);
const schemas: OptionSchemas<OpenAIAgentOptions> = {
  agent: withMethod('name'),
  runner: Type.Optional(withMethod('run')),
  input: Type.Optional(func),
  fileBytes: amount,
  session: Type.Optional(func),
  runContext: Type.Optional(func),
  maxTurns: amount,
  steps: Type.Optional(flag),
  tracing: Type.Optional(flag),
  secretKeys: Type.Optional(Type.Unknown()),
  maxStateChars: amount,
  approvalMs: amount,
  resumable: Type.Optional(flag),
  idempotent: Type.Optional(func),
};

/**
 * Makes an A2A agent of an agent of the OpenAI Agents SDK. The text of the model becomes an artifact that grows. Tools
 * that need an approval make the task INPUT_REQUIRED, and the answer of the caller resumes the run. A cancel and the
 * deadline abort the run. A guardrail rejects or fails the task and names itself. Other errors stay in the log.
 * @throws OptionsError for unknown or wrong options, for keys that are none, and for a runner that traces without
 * `tracing`.
 */
export function openAIAgent(options: OpenAIAgentOptions): AgentExecutor {
  checkOptions({ subject: 'openAIAgent', schema: optionObject(schemas), options });
  const { tracing = false, runner = new Runner({ tracingDisabled: !tracing, traceIncludeSensitiveData: false }) } =
    options;
  if (!tracing && !runner.config.tracingDisabled) {
    const problem = 'runner: sends traces to OpenAI. Create it with tracingDisabled, or set tracing';
    throw new OptionsError('openAIAgent', [problem]);
  }
  const states = new SealedRunStates(options.secretKeys);
  const agents = runAgents(options.agent);
  if (options.resumable === true) guardTools(agents, options.idempotent ?? NONE);
  return {
    resumable: options.resumable ?? false,
    extensions: [TOOLS_CARD_EXTENSION],
    async execute(context, events) {
      await events.working();
      try {
        await new AgentTurn({ options, agents, runner, states, context, events }).run();
      } catch (error) {
        // The engine ends an aborted task.
        if (context.signal.aborted) return;
        const failure = runFailureOf(error);
        if (failure === undefined) throw error;
        await (failure.state === 'rejected' ? events.reject(failure.text) : events.fail(failure.text));
      }
    },
  };
}

type AnyRunState = RunState<unknown, AnyOpenAIAgent>;
type AnyRunResult = StreamedRunResult<unknown, AnyOpenAIAgent>;

interface AgentTurnOptions {
  readonly options: OpenAIAgentOptions;
  readonly agents: RunAgents;
  readonly runner: Runner;
  readonly states: SealedRunStates;
  readonly context: RequestContext;
  readonly events: EventQueue;
}

/** The agent that began the run, and the current one. */
interface Speakers {
  readonly first: AnyOpenAIAgent;
  readonly current: AnyOpenAIAgent;
}

/** One turn of an agent. */
class AgentTurn {
  readonly #options: OpenAIAgentOptions;
  readonly #agents: RunAgents;
  readonly #runner: Runner;
  readonly #states: SealedRunStates;
  readonly #context: RequestContext;
  readonly #events: EventQueue;
  readonly #answer: RunAnswer;
  readonly #checkpoints: RunCheckpoints;

  constructor({ options, agents, runner, states, context, events }: AgentTurnOptions) {
    this.#options = options;
    this.#agents = agents;
    this.#runner = runner;
    this.#states = states;
    this.#context = context;
    this.#events = events;
    this.#answer = new RunAnswer(events, `response-${context.message.messageId}`);
    this.#checkpoints = new RunCheckpoints({ context, answer: this.#answer, maxChars: this.#maxStateChars });
  }

  get #maxStateChars(): number {
    return this.#options.maxStateChars ?? MAX_STATE_CHARS;
  }

  async run(): Promise<void> {
    const kept = await this.#checkpoints.restore();
    if (kept.kind === 'too large') return this.#events.fail(TOO_LARGE_TO_RESUME);
    if (kept.kind === 'kept') {
      const state = await this.#stateOf(kept.state);
      if (kept.calls.length > 0) state.addInput(itemsOf(kept.calls));
      return this.#go(state);
    }
    const question = this.#context.history.at(-1);
    if (!this.#states.isIn(question)) return this.#begin(kept.calls);
    const text = await this.#states.open(question, this.#context);
    if (text === undefined) return this.#events.fail(LOST);
    await this.#decide(await this.#stateOf(text), question, kept.calls);
  }

  /** Begins a run with the agent that gave the last answer of the context. `calls`: those of an earlier attempt. */
  async #begin(calls: readonly MadeCall[]): Promise<void> {
    const { agent, input, session, fileBytes } = this.#options;
    const hasOwnInput = input !== undefined || session !== undefined;
    const entries = hasOwnInput && this.#agents.size === 1 ? [] : await this.#context.conversation();
    let items: string | AgentInputItem[];
    if (input !== undefined) items = await input(this.#context);
    else if (session !== undefined) items = [await this.#messageItem()];
    else items = await conversationItems(this.#context, entries, fileBytes);
    if (calls.length > 0) items = [...(typeof items === 'string' ? [user(items)] : items), ...itemsOf(calls)];
    await this.#go(items, lastAgentIn(entries, this.#agents) ?? agent);
  }

  /** Resumes a run that waits for approvals. `made`: the calls that an earlier attempt has made after this answer. */
  async #decide(state: AnyRunState, question: Message, made: readonly MadeCall[]): Promise<void> {
    const { message } = this.#context;
    const pending = state.getInterruptions();
    const { byId, isPrompt } = answersIn(message, question, this.#context.clock.now());
    const isUnclear = byId.size === 0 || (isPrompt && !takesInput(state, await this.#messageItem()));
    if (isUnclear) return this.#ask(state, pending, UNDECIDED);
    for (const item of pending) {
      const answer = byId.get(callIdOf(item));
      const call = made.find(({ callId }) => callId === callIdOf(item));
      // A rejection gives the model a result without a run.
      if (call !== undefined) state.reject(item, { message: outputOf(call) });
      else if (answer?.approved === true) state.approve(item);
      else if (answer !== undefined) state.reject(item, { message: answer.message });
    }
    await this.#go(state);
  }

  #messageItem(): Promise<AgentInputItem> {
    return messageItem(this.#context, this.#options.fileBytes);
  }

  #stateOf(text: string): Promise<AnyRunState> {
    const { agent, runContext } = this.#options;
    if (runContext === undefined) return RunState.fromString(agent, text);
    return RunState.fromStringWithContext(agent, text, new RunContext(runContext(this.#context)));
  }

  async #go(input: string | AgentInputItem[] | AnyRunState, agent = this.#options.agent): Promise<void> {
    const { maxTurns, session, runContext, resumable = false, idempotent = NONE } = this.#options;
    const { signal } = this.#context;
    let state = input instanceof RunState ? input : undefined;
    // A state contains its context already.
    const context = state?._context ?? new RunContext(runContext?.(this.#context));
    if (resumable) {
      const checkpoints = this.#checkpoints;
      recordCalls(context, this.#agents, {
        isIdempotent: idempotent,
        begin: (call) => checkpoints.begin(call),
        end: (callId, output) => checkpoints.end(callId, output),
      });
    }
    const result: AnyRunResult = await this.#runner.run(agent, input, {
      stream: true,
      signal,
      callModelInputFilter: this.#inputFilter(() => (resumable ? state : undefined)),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(session !== undefined && { session: await session(this.#context) }),
      ...(state === undefined && { context }),
    });
    state = result.state;
    for await (const event of result) {
      const current = result.currentAgent ?? agent;
      if (this.#agents.size > 1) this.#answer.agent = current.name;
      await this.#show(event, { first: agent, current });
    }
    await result.completed;
    if (signal.aborted) return;
    await this.#answer.release();
    if (result.interruptions.length > 0) return this.#ask(result.state, result.interruptions);
    await this.#complete(result);
  }

  /**
   * The SDK awaits this filter before each call of the model, when the step before it has ended with all its tools.
   * Before the first step there is nothing to store. A used-up budget of tokens ends the run.
   */
  #inputFilter(stateOf: () => AnyRunState | undefined): CallModelInputFilter {
    const own = this.#runner.config.callModelInputFilter;
    const filter: CallModelInputFilter = async (args) => {
      const state = stateOf();
      if (state !== undefined) await this.#checkpoints.save(textOf(state));
      await this.#context.countTokens();
      return own === undefined ? args.modelData : own(args);
    };
    filter.preserveInputIdentity = own === undefined || own.preserveInputIdentity === true;
    return filter;
  }

  /** Publishes an event. `current` is the current agent, which hand-offs change. */
  #show(event: RunStreamEvent, { first, current }: Speakers): Promise<void> | undefined {
    switch (event.type) {
      case 'raw_model_stream_event':
        if (event.data.type === 'response_done') return this.#context.countTokens(usageOf(event.data.response.usage));
        if (event.data.type !== 'output_text_delta' || current.outputType !== 'text') return undefined;
        return this.#answer.write(event.data.delta, this.#mayBeWithheld({ first, current }));
      case 'agent_updated_stream_event':
        return undefined;
      case 'run_item_stream_event':
        if (event.name === 'message_output_created') this.#answer.endMessage();
        return this.#showItem(event);
    }
  }

  #showItem({ item }: Extract<RunStreamEvent, { type: 'run_item_stream_event' }>): Promise<void> | undefined {
    if (this.#options.steps === false) return undefined;
    switch (item.type) {
      case 'tool_call_item':
        return 'name' in item.rawItem ? this.#step({ tool: item.rawItem.name, state: 'called' }) : undefined;
      case 'tool_call_output_item':
        return 'name' in item.rawItem ? this.#step({ tool: item.rawItem.name, state: 'answered' }) : undefined;
      case 'handoff_output_item':
        return this.#step({ handoff: { from: item.sourceAgent.name, to: item.targetAgent.name } });
      default:
        return undefined;
    }
  }

  #step(metadata: JsonObject): Promise<void> {
    return this.#events.working(undefined, { metadata });
  }

  /**
   * True if a guardrail may still withhold text: input guardrails can run beside the model, output guardrails run after
   * it.
   */
  #mayBeWithheld({ first, current }: Speakers): boolean {
    const { inputGuardrails = [], outputGuardrails = [] } = this.#runner.config;
    const inputs = [...inputGuardrails, ...first.inputGuardrails];
    const outputs = [...outputGuardrails, ...current.outputGuardrails];
    return outputs.length > 0 || inputs.some(({ runInParallel }) => runInParallel !== false);
  }

  async #ask(state: AnyRunState, items: readonly RunToolApprovalItem[], note?: string): Promise<void> {
    const text = textOf(state);
    if (text.length > this.#maxStateChars) return this.#events.fail(TOO_LARGE);
    const { approvalMs = DEFAULT_TOOL_LIMITS.approvalMs } = this.#options;
    const expiresAt = new Date(this.#context.clock.now() + approvalMs).toISOString();
    const approvals = items.map((item) => approvalOf(item, expiresAt));
    if (reusedId(approvals, this.#context.history) !== undefined) return this.#events.fail(REUSED);
    const { parts, extensions = [] } = approvalQuestion(approvals, note);
    const metadata = await this.#states.metadataOf(text, this.#context);
    await this.#events.inputRequired({ parts, extensions, metadata });
  }

  async #complete({ finalOutput, state, lastAgent }: AnyRunResult): Promise<void> {
    if (typeof finalOutput === 'string') {
      // A model without streaming has no deltas.
      if (!this.#answer.hasText) await this.#answer.write(finalOutput, false);
    } else if (finalOutput !== undefined) {
      const isNamed = this.#agents.size > 1 && lastAgent !== undefined;
      const about = isNamed ? { metadata: agentMetadata(lastAgent.name) } : {};
      await this.#events.artifact({ data: finalOutput }, { name: 'response', ...about });
    }
    const { inputTokens, outputTokens, totalTokens } = state.usage;
    await this.#events.complete(undefined, { metadata: { usage: { inputTokens, outputTokens, totalTokens } } });
  }
}

/**
 * Serializes the state of a run without the context of the application. The context may be any value, such as the turn
 * with its methods, and each turn makes a new one.
 */
function textOf(state: AnyRunState): string {
  const { _context: run } = state;
  const { context } = run;
  run.context = {};
  try {
    return state.toString();
  } finally {
    run.context = context;
  }
}

/** Adds the message instead of approvals. False if the run may end without another call of the model. */
function takesInput(state: AnyRunState, item: AgentInputItem): boolean {
  try {
    state.addInput([item]);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/** The details of the SDK are one record, or one for each request to the model. */
function usageOf({ inputTokens, outputTokens, inputTokensDetails }: ModelUsage): TokenUsage {
  const details = inputTokensDetails === undefined ? [] : [inputTokensDetails].flat();
  const cachedInputTokens = details.reduce((sum, one) => sum + (Number(one.cached_tokens) || 0), 0);
  return providerUsage({ inputTokens, outputTokens, cachedInputTokens });
}

interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly inputTokensDetails?: Record<string, number> | Record<string, number>[] | undefined;
}
