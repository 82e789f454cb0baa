import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { type BaseMessage, isBaseMessage, type UsageMetadata } from '@langchain/core/messages';
import type { LLMResult } from '@langchain/core/outputs';
import { isCommand } from '@langchain/langgraph';
import { providerUsage } from 'parley-a2a/kit';
import type { EventQueue, RequestContext, TokenUsage } from 'parley-a2a/server';
import type { AnswerArtifacts, AnswerSegment } from './answer-artifacts.js';

/** Tokens of all model calls of a turn. */
export interface GraphUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** The options of the callbacks. */
interface AnswerCallbacksOptions {
  readonly answer: AnswerArtifacts;
  readonly context: Pick<RequestContext, 'countTokens'>;
  readonly events: EventQueue;
  /** The nodes whose text is the answer. Absent: all nodes. */
  readonly nodes: readonly string[] | undefined;
  /** True if checkpoints outlive the process. */
  readonly isDurable: boolean;
}

type Metadata = Record<string, unknown> | undefined;
interface Place {
  readonly node: string;
  readonly step: string;
}

/** Tags of LangGraph and LangSmith that keep a model out of streams. */
const SILENT_TAGS = ['nostream', 'langsmith:nostream'];

/**
 * Publishes the text of the models of a graph. LangGraph awaits the callbacks, so a slow storage slows the model down.
 * With durable checkpoints, the text of a node is committed before the node ends. So no checkpoint has an answer that
 * the task lacks.
 */
export class AnswerCallbacks extends BaseCallbackHandler {
  readonly name = 'ParleyAnswer';
  override readonly awaitHandlers = true;
  /** Makes models stream that nodes call with `invoke`. */
  readonly lc_prefer_streaming = true;
  readonly #options: AnswerCallbacksOptions;
  readonly #models = new Map<string, Place>();
  /** Models that have written text. */
  readonly #streaming = new Set<string>();
  readonly #nodes = new Map<string, Place>();
  readonly #seenIds = new Set<string>();
  readonly #seen = new WeakSet<BaseMessage>();
  #usage: GraphUsage | undefined;

  constructor(options: AnswerCallbacksOptions) {
    super();
    this.#options = options;
  }

  /** Absent if no model has reported its usage. */
  get usage(): GraphUsage | undefined {
    return this.#usage;
  }

  override async handleChatModelStart(
    _model: unknown,
    _messages: unknown,
    runId: string,
    _parent?: string,
    _extra?: unknown,
    tags: string[] = [],
    metadata?: Metadata,
  ): Promise<void> {
    await this.#count();
    const place = this.#placeOf(metadata);
    if (place !== undefined && !SILENT_TAGS.some((tag) => tags.includes(tag))) this.#models.set(runId, place);
  }

  override async handleLLMNewToken(
    token: string,
    _index: unknown,
    runId: string,
    _parent?: string,
    _tags?: string[],
    fields?: { readonly chunk?: unknown },
  ): Promise<void> {
    const place = this.#models.get(runId);
    if (place === undefined) return;
    const message = messageOf(fields?.chunk);
    if (message?.id !== undefined) this.#seenIds.add(message.id);
    this.#streaming.add(runId);
    await this.#write(runId, place, message === undefined ? token : message.text);
  }

  override async handleLLMEnd({ generations }: LLMResult, runId: string): Promise<void> {
    const message = messageOf(generations[0]?.[0]);
    await this.#addUsage(message);
    const place = this.#models.get(runId);
    if (place === undefined) return;
    this.#models.delete(runId);
    this.#seenIds.add(`run-${runId}`);
    if (message !== undefined) this.#note(message);
    // A model without streaming has its whole text here.
    if (!this.#streaming.delete(runId)) await this.#write(runId, place, message?.text ?? '');
    await this.#end(runId);
  }

  override async handleLLMError(_error: unknown, runId: string): Promise<void> {
    this.#models.delete(runId);
    // After an error, the node may call the model again, or another one.
    if (this.#streaming.delete(runId)) await this.#ignoreEnd(this.#options.answer.dropMessage(runId));
  }

  override async handleChainStart(
    _chain: unknown,
    inputs: unknown,
    runId: string,
    _type?: string,
    _tags?: string[],
    metadata?: Metadata,
    _runType?: string,
    name?: string,
  ): Promise<void> {
    const place = this.#placeOf(metadata);
    if (place === undefined || name !== place.node) return;
    for (const message of messagesIn(inputs)) this.#note(message);
    const isInner = [...this.#nodes.values()].some(({ step }) => step === place.step);
    this.#nodes.set(runId, place);
    if (isInner) return;
    // A node that runs again after an error writes its text again.
    const isOwn = ({ step }: AnswerSegment) => step === place.step || step.startsWith(`${place.step}|`);
    await this.#ignoreEnd(this.#options.answer.drop(isOwn));
  }

  override async handleChainEnd(outputs: unknown, runId: string): Promise<void> {
    const place = this.#nodes.get(runId);
    if (place === undefined) return;
    this.#nodes.delete(runId);
    // A node may answer without a model.
    for (const message of messagesIn(outputs)) {
      if (message.getType() !== 'ai' || this.#isKnown(message)) continue;
      this.#note(message);
      if (this.#options.answer.hasText({ step: place.step, text: message.text })) continue;
      await this.#write(runId, place, message.text);
      await this.#end(runId);
    }
  }

  override handleChainError(_error: unknown, runId: string): void {
    this.#nodes.delete(runId);
  }

  async #write(message: string, place: Place, text: string): Promise<void> {
    await this.#ignoreEnd(this.#options.answer.write(message, { ...place, text }));
  }

  async #end(message: string): Promise<void> {
    this.#options.answer.end(message);
    if (this.#options.isDurable) await this.#ignoreEnd(this.#options.events.flush());
  }

  /** Events are refused after the end of the turn. The graph is stopped by its signal, so the error is ignored. */
  #ignoreEnd(published: Promise<unknown>): Promise<unknown> {
    return published.catch(() => {});
  }

  /** The node of a callback; `undefined` if its text is not part of the answer. */
  #placeOf(metadata: Metadata): Place | undefined {
    const { langgraph_node: node, langgraph_checkpoint_ns: step } = metadata ?? {};
    if (typeof node !== 'string' || typeof step !== 'string') return undefined;
    const { nodes } = this.#options;
    return nodes === undefined || nodes.includes(node) ? { node, step } : undefined;
  }

  #note(message: BaseMessage): void {
    this.#seen.add(message);
    if (message.id !== undefined) this.#seenIds.add(message.id);
  }

  #isKnown(message: BaseMessage): boolean {
    return this.#seen.has(message) || (message.id !== undefined && this.#seenIds.has(message.id));
  }

  /** Counts tokens. A used-up budget must end the graph, although LangChain usually only logs errors of callbacks. */
  async #count(usage?: TokenUsage): Promise<void> {
    try {
      await this.#options.context.countTokens(usage);
    } catch (error) {
      this.raiseError = true;
      throw error;
    }
  }

  async #addUsage(message: BaseMessage | undefined): Promise<void> {
    if (message === undefined || !('usage_metadata' in message)) return;
    const usage = message.usage_metadata as UsageMetadata | undefined;
    if (usage === undefined) return;
    const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = this.#usage ?? {};
    this.#usage = {
      inputTokens: inputTokens + usage.input_tokens,
      outputTokens: outputTokens + usage.output_tokens,
      totalTokens: totalTokens + usage.total_tokens,
    };
    const cachedInputTokens = usage.input_token_details?.cache_read;
    const { input_tokens: input, output_tokens: output } = usage;
    await this.#count(providerUsage({ inputTokens: input, outputTokens: output, cachedInputTokens }));
  }
}

/** The message of a generation or of its chunk. */
function messageOf(generation: unknown): BaseMessage | undefined {
  if (typeof generation !== 'object' || generation === null || !('message' in generation)) return undefined;
  return isBaseMessage(generation.message) ? generation.message : undefined;
}

/** The messages in the state or the update of a node, which may be a command. */
function messagesIn(value: unknown): readonly BaseMessage[] {
  if (isBaseMessage(value)) return [value];
  if (Array.isArray(value))
    return value.flatMap((item) => (isBaseMessage(item) || isCommand(item) ? messagesIn(item) : []));
  if (typeof value !== 'object' || value === null) return [];
  if (isCommand(value)) return messagesIn(value.update);
  return Object.values(value).flatMap((member) =>
    isBaseMessage(member) || Array.isArray(member) ? messagesIn(member) : [],
  );
}
