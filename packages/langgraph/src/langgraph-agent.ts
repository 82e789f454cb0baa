import { Command, GraphRecursionError, isInvalidResume, MemorySaver } from '@langchain/langgraph';
import type { JsonObject } from 'parley-a2a';
import {
  checkOptions,
  flag,
  func,
  type OptionSchemas,
  OptionsError,
  optionObject,
  positive,
  Type,
  text,
  texts,
  withMethod,
} from 'parley-a2a/kit';
import type { AgentExecutor, ArtifactContent, EventQueue, RequestContext, StatusContent } from 'parley-a2a/server';
import { AnswerArtifacts } from './answer-artifacts.js';
import { AnswerCallbacks, type GraphUsage } from './answer-callbacks.js';
import { conversationInput, messageInput } from './graph-input.js';
import { jsonOf, questionParts } from './interrupt-question.js';
import { isWrittenAgain } from './kept-text.js';
import { checkpointerOf, openInterrupts, type RunnableGraph } from './runnable-graph.js';
import { threadIdOf } from './thread-id.js';
import { positionOf } from './thread-position.js';
import { ThreadQueue } from './thread-queue.js';
import { type TurnStart, turnStart } from './turn-start.js';

/** A graph as an agent. */
export interface LangGraphAgentOptions {
  /** The compiled graph. With a checkpointer it stores its conversations, and can ask questions by interrupts. */
  readonly graph: RunnableGraph;
  /** Distinguishes agents that share a checkpointer. Default: "". */
  readonly name?: string;
  /**
   * The input for a message. Default: `{ messages }` with the message. Without a checkpointer: with the conversation.
   */
  readonly input?: (context: RequestContext) => unknown;
  /**
   * Maximum bytes of files of this server that the input has, those of the newest messages first. Urls of others stay
   * urls. Default: 16 MiB.
   */
  readonly fileBytes?: number;
  /** Makes the artifact from the final state, instead of the text of the models. */
  readonly output?: (state: unknown, context: RequestContext) => ArtifactContent | undefined;
  /** The nodes whose text is the answer. Default: all. */
  readonly nodes?: readonly string[];
  /** Shows the name of each node that begins, as metadata of a status. Default: true. */
  readonly steps?: boolean;
  /** Makes the status for an event of `config.writer`. Default: a string as text, other values as a data part. */
  readonly custom?: (value: unknown) => StatusContent | undefined;
  /** Makes the context of the run for the nodes, such as the user. */
  readonly runContext?: (context: RequestContext) => Readonly<Record<string, unknown>>;
  /** Maximum number of steps of a turn. A graph that needs more fails. Default: that of LangGraph. */
  readonly recursionLimit?: number;
  /**
   * True if a turn resumes from its last checkpoint after its process died. Default: true with any checkpointer but
   * `MemorySaver`. Required for a checkpointer that is derived from it.
   */
  readonly resumable?: boolean;
}

const amount = Type.Optional(positive);
const schemas: OptionSchemas<LangGraphAgentOptions> = {
  graph: withMethod('stream'),
  name: Type.Optional(text),
  input: Type.Optional(func),
  fileBytes: amount,
  output: Type.Optional(func),
  nodes: Type.Optional(texts),
  steps: Type.Optional(flag),
  custom: Type.Optional(func),
  runContext: Type.Optional(func),
  recursionLimit: amount,
  resumable: Type.Optional(flag),
};

/**
 * Makes an agent of a graph. Each context of a caller has its own thread. The text of the models becomes an artifact
 * that grows. An interrupt makes the task INPUT_REQUIRED, and the answer of the caller resumes the graph. A cancel and
 * the deadline abort the graph. Errors of the graph fail the task without details for the caller.
 * @throws OptionsError for unknown or wrong options, and if `resumable` is missing for a checkpointer that is derived
 * from `MemorySaver`.
 */
export function langGraphAgent(options: LangGraphAgentOptions): AgentExecutor {
  checkOptions({ subject: 'langGraphAgent', schema: optionObject(schemas), options });
  const checkpointer = checkpointerOf(options.graph);
  const threads = new ThreadQueue();
  const resumable = options.resumable ?? isDurable(checkpointer);
  return {
    resumable,
    async execute(context, events) {
      await events.working();
      const turn = new GraphTurn({ options, context, events, isDurable: resumable });
      try {
        if (checkpointer === undefined) return await turn.run();
        const thread = await threadIdOf({
          ...owner(context),
          ...(options.name !== undefined && { agent: options.name }),
        });
        await threads.run(thread, context.signal, () => turn.runOn(thread));
      } catch (error) {
        // The engine ends an aborted task.
        if (context.signal.aborted) return;
        if (!(error instanceof GraphRecursionError)) throw error;
        await events.fail('The agent needed more steps than it may take.');
      }
    },
  };
}

function owner({ tenant, user, contextId }: RequestContext): Pick<RequestContext, 'tenant' | 'user' | 'contextId'> {
  return { tenant, user, contextId };
}

const OVERTAKEN = 'The agent no longer waits for this answer: the conversation has gone on. Start a new task.';
const UNCLEAR = 'Answer at least one question: a data part with an object of answers by interruptId.';
const INVALID = 'The answer does not have the form that the question asks for.';

interface GraphTurnOptions {
  readonly options: LangGraphAgentOptions;
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly isDurable: boolean;
}

/** One turn of a graph. */
/** @throws OptionsError for a class derived from `MemorySaver`, which may keep its threads anywhere. */
function isDurable(checkpointer: object | undefined): boolean {
  if (!(checkpointer instanceof MemorySaver)) return checkpointer !== undefined;
  if (checkpointer.constructor === MemorySaver) return false;
  const fault = `resumable: say true or false, because ${checkpointer.constructor.name} is derived from MemorySaver`;
  throw new OptionsError('langGraphAgent', [fault]);
}

class GraphTurn {
  readonly #options: LangGraphAgentOptions;
  readonly #context: RequestContext;
  readonly #events: EventQueue;
  readonly #isDurable: boolean;
  readonly #answer: AnswerArtifacts;
  readonly #callbacks: AnswerCallbacks;
  #state: unknown;

  constructor({ options, context, events, isDurable }: GraphTurnOptions) {
    this.#options = options;
    this.#context = context;
    this.#events = events;
    this.#isDurable = isDurable;
    this.#answer = new AnswerArtifacts(events, `response-${context.message.messageId}`);
    const nodes = options.output === undefined ? options.nodes : [];
    this.#callbacks = new AnswerCallbacks({ answer: this.#answer, context, events, nodes, isDurable });
  }

  /** Runs a graph without a checkpointer. */
  async run(): Promise<void> {
    await this.#stream(await this.#input(conversationInput), {});
    await this.#complete();
  }

  /** Runs a graph on its thread. */
  async runOn(thread: string): Promise<void> {
    const { graph } = this.#options;
    const config = { configurable: { thread_id: thread } };
    const start = await this.#start(config);
    if (start.kind === 'overtaken') return this.#events.fail(OVERTAKEN);
    const refusal = 'fault' in start && start.fault !== undefined ? `${INVALID} ${start.fault}` : undefined;
    if (start.kind === 'unclear') return this.#ask(config, refusal ?? UNCLEAR);
    try {
      await this.#go(start, config);
    } catch (error) {
      if (start.kind === 'answer' && isInvalidResume(error)) return this.#ask(config, INVALID);
      throw error;
    }
    if (this.#context.signal.aborted) return;
    const questions = openInterrupts(await graph.getState(config));
    if (questions.length > 0) return this.#events.inputRequired(questionParts(questions, refusal));
    await this.#complete();
  }

  /** Decides how the turn starts, and restores the text of an earlier attempt. */
  async #start(config: object): Promise<TurnStart> {
    const { message, history, checkpoint: saved } = this.#context;
    const snapshot = await this.#options.graph.getState(config, { subgraphs: true });
    const position = await positionOf(this.#options.graph, config, snapshot);
    const open = openInterrupts(snapshot);
    const start = turnStart({ message, question: history.at(-1), open, position, saved });
    if (saved === undefined) await this.#context.saveCheckpoint({ ...position });
    if (this.#context.attempt > 1) {
      const isKept = ({ step }: { readonly step: string }) => start.kind !== 'input' && !isWrittenAgain(step, snapshot);
      await this.#answer.restore(await this.#context.previousEvents(), isKept);
    }
    return start;
  }

  async #go(start: Extract<TurnStart, { kind: 'input' | 'answer' | 'continue' }>, config: object): Promise<void> {
    const { graph } = this.#options;
    switch (start.kind) {
      case 'input':
        return this.#stream(await this.#input(messageInput), config);
      case 'answer':
        return this.#stream(new Command({ resume: start.answers }), config);
      case 'continue': {
        // No tasks: the process died between the last checkpoint of the graph and the end of the task. Tasks: all of
        // them have run, but their checkpoint is missing.
        const { tasks } = await graph.getState(config);
        if (tasks.length > 0) await this.#stream(null, config);
      }
    }
  }

  async #input(byDefault: typeof messageInput): Promise<unknown> {
    const { input, fileBytes } = this.#options;
    return input === undefined ? byDefault(this.#context, fileBytes) : input(this.#context);
  }

  async #stream(input: unknown, config: object): Promise<void> {
    const { graph, output, steps = true, runContext, recursionLimit } = this.#options;
    const { signal } = this.#context;
    const chunks = await graph.stream(input, {
      ...config,
      signal,
      subgraphs: true,
      streamMode: ['custom', ...(steps ? ['tasks'] : []), ...(output === undefined ? [] : ['values'])],
      callbacks: [this.#callbacks],
      ...(this.#isDurable && { durability: 'sync' }),
      ...(recursionLimit !== undefined && { recursionLimit }),
      ...(runContext !== undefined && { context: runContext(this.#context) }),
    });
    for await (const chunk of chunks) {
      if (signal.aborted) return;
      await this.#show(chunk as GraphChunk);
    }
  }

  async #show([namespace, mode, value]: GraphChunk): Promise<void> {
    switch (mode) {
      case 'custom':
        return this.#showCustom(value);
      case 'tasks':
        // Events of the end of a node have no input.
        if (namespace.length > 0 || !('input' in value)) return;
        return this.#events.working(undefined, { metadata: { node: value.name } });
      case 'values':
        if (namespace.length === 0) this.#state = value;
    }
  }

  async #showCustom(value: unknown): Promise<void> {
    const { custom = defaultStatus } = this.#options;
    const content = custom(value);
    if (content !== undefined) await this.#events.working(content);
  }

  async #ask(config: object, note: string): Promise<void> {
    const interrupts = openInterrupts(await this.#options.graph.getState(config));
    await this.#events.inputRequired(questionParts(interrupts, note));
  }

  async #complete(): Promise<void> {
    if (this.#context.signal.aborted) return;
    const content = this.#options.output?.(this.#state, this.#context);
    if (content !== undefined) await this.#events.artifact(content, { name: 'response' });
    const { usage } = this.#callbacks;
    await this.#events.complete(undefined, usage && { metadata: usageMetadata(usage) });
  }
}

/** A chunk of the stream of a graph, with the namespace of its subgraph. */
type GraphChunk =
  | readonly [namespace: readonly string[], mode: 'custom' | 'values', value: unknown]
  | readonly [namespace: readonly string[], mode: 'tasks', value: { readonly name: string }];

function defaultStatus(value: unknown): StatusContent {
  return typeof value === 'string' ? value : [{ data: jsonOf(value) }];
}

function usageMetadata(usage: GraphUsage): JsonObject {
  return { usage: { ...usage } };
}
