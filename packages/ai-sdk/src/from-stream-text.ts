import type { FinishReason, LanguageModelUsage, TextStreamPart, ToolSet } from 'ai';
import type { JsonObject, JsonValue, Part } from 'parley-a2a';
import {
  approvalQuestion,
  controlPart,
  isObject,
  MORE_FOLLOWS,
  modelParts,
  refuseArgument,
  UNDECIDED,
  waitingCalls,
} from 'parley-a2a/kit';
import type { EventQueue, ModelStream, RequestContext } from 'parley-a2a/server';
import type { ToolRun } from 'parley-a2a/tools';
import { MODEL_OUTPUT_EXTENSION, type ModelContent, modelMetadata, shownValue } from './model-output.js';
import { answeredCalls } from './sdk-approvals.js';
import type { StepCheckpoints } from './step-checkpoints.js';
import { StepCounts } from './step-counts.js';
import { ToolRecorder } from './tool-recorder.js';
import { untilAborted } from './until-aborted.js';

/** The parts of an answer that the caller sees. */
export interface ShownOptions {
  /**
   * The reasoning of the model, as an artifact of its own. `asked` (default): for callers that declare
   * `MODEL_OUTPUT_EXTENSION`, if the card offers it.
   */
  readonly reasoning?: 'asked' | 'always' | 'never';
  /** The tool calls with inputs and results, as an artifact of its own. Default true. Later turns read it. */
  readonly toolCalls?: boolean;
  /** The state of a task whose answer reached the token limit. Default `failed`. */
  readonly cutOff?: 'failed' | 'completed';
}

/** The turn that an answer belongs to. */
export interface StreamTextTurn extends ShownOptions {
  readonly context: RequestContext;
  readonly events: EventQueue;
  /** The run of `toAiTools`, which records its calls itself. While one waits for an approval, the task does not end. */
  readonly run?: ToolRun;
}

/** A turn, and the state of its answer. */
export type TimedTurn = StreamTextTurn & {
  /** Stores the answer after each step. */
  readonly checkpoints?: StepCheckpoints;
  /** The stored answer of an earlier attempt, to resume from. */
  readonly kept?: JsonObject;
  /** Counts the tokens of the steps. */
  readonly counts?: StepCounts;
};

/** A result of `streamText` with any tools. */
export type StreamedText = ModelStream<TextStreamPart<ToolSet>>;

/**
 * Turns the result of `streamText` into the events of a task, and ends the task. Text becomes one artifact that grows.
 * Each step of the model is a status. Resolves early if the turn is aborted, even if the model continues.
 * @throws the error of the model. The engine then fails the task, without the text of the error.
 */
export async function fromStreamText(result: StreamedText, turn: TimedTurn): Promise<void> {
  const { signal } = turn.context;
  const answer = new StreamedAnswer(turn);
  await answer.begin();
  try {
    for await (const part of modelParts(untilAborted(result.fullStream, signal), signal)) {
      if (signal.aborted) return;
      await answer.take(part);
      if (answer.fault !== undefined) return turn.events.fail(answer.fault);
    }
  } catch (error) {
    // The engine fails the task. After an abort, another attempt may resume the calls.
    if (!signal.aborted) answer.closeCalls();
    throw error;
  }
  // After an abort the answer is incomplete, and the engine ends the task.
  if (!signal.aborted) await answer.end();
}

/**
 * Asks again for the approvals of the AI SDK that a message leaves open. Returns true if it did: the executor must then
 * return without calling the model. Without this call, such approvals are refused.
 */
export async function asksAgain(turn: Pick<StreamTextTurn, 'context' | 'events'>): Promise<boolean> {
  if (Object(turn).context === undefined) refuseArgument('asksAgain', '{ context, events } of a turn', turn);
  const { context, events } = turn;
  const { calls, kind } = answeredCalls(context);
  const waiting = kind === 'other' ? [] : waitingCalls(calls.values());
  if (waiting.length === 0) return false;
  await new ToolRecorder({ context, events, hasRun: false, isOn: true }).recordAnswers();
  const approvals = waiting.map(({ id, tool, input = null, expiresAt = '' }) => ({
    callId: id,
    tool,
    input,
    expiresAt,
  }));
  await events.inputRequired(approvalQuestion(approvals, kind === 'stray' ? UNDECIDED : undefined));
  return true;
}

/** Maps the finish reason of the model to the end of the task. */
export function endOf(
  reason: FinishReason | undefined,
  cutOff: 'failed' | 'completed' = 'failed',
): { readonly state: 'completed' | 'failed'; readonly message?: string } {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
    case 'other':
      return { state: 'completed' };
    case 'length':
      return { state: cutOff, message: 'The answer is cut off: the model reached its limit of tokens.' };
    case 'content-filter':
      return { state: 'failed', message: 'The answer is incomplete: a content filter stopped the model.' };
    case 'error':
    case 'interrupted':
    case undefined:
      return { state: 'failed', message: 'The answer is incomplete: the model stopped early.' };
  }
}

/** Writes the parts of one answer. */
class StreamedAnswer {
  readonly #turn: TimedTurn;
  readonly #answer: TextArtifact;
  readonly #reasoning: TextArtifact | undefined;
  readonly #tools: ToolRecorder;
  readonly #sources: PartsArtifact;
  readonly #idOf: (name: string) => string | undefined;
  readonly #counts: StepCounts;
  #steps = 0;
  #files = 0;
  #finish: { readonly reason: FinishReason; readonly usage: LanguageModelUsage } | undefined;

  constructor(turn: TimedTurn) {
    const { context, events, run, reasoning = 'asked', toolCalls = true, checkpoints, kept } = turn;
    this.#turn = turn;
    this.#counts = turn.counts ?? new StepCounts(context);
    // Another attempt replaces these artifacts, so their ids must be predictable.
    const idOf = (name: string) => (checkpoints === undefined ? undefined : `${name}-${context.message.messageId}`);
    this.#idOf = idOf;
    this.#answer = new TextArtifact(events, 'response', { id: idOf('response') });
    this.#sources = new PartsArtifact(events, 'sources', idOf('sources'));
    const isResumed = kept !== undefined;
    this.#tools = new ToolRecorder({ context, events, hasRun: run !== undefined, isOn: toolCalls, isResumed });
    const isAsked = reasoning === 'asked' && context.extensions.includes(MODEL_OUTPUT_EXTENSION);
    if (isAsked || reasoning === 'always')
      this.#reasoning = new TextArtifact(events, 'reasoning', { id: idOf('reasoning'), content: 'reasoning' });
  }

  /** The reason to fail the task before the model ends. */
  get fault(): string | undefined {
    return this.#tools.fault;
  }

  /** Cancels the unfinished calls, because the task ends. */
  closeCalls(): void {
    this.#tools.close();
  }

  async begin(): Promise<void> {
    if (this.#turn.context.attempt > 1 && this.#turn.checkpoints !== undefined) await this.#restore();
    await this.#tools.recordAnswers();
    await this.#release(this.#tools.approved);
  }

  /** Allows calls to run, after their records are stored. */
  async #release(ids: readonly string[]): Promise<void> {
    const { checkpoints, events } = this.#turn;
    if (checkpoints === undefined || ids.length === 0) return;
    await events.flush();
    for (const id of ids) checkpoints.callRecorded(id);
  }

  /** Resets the artifacts of an earlier attempt to its last finished step. */
  async #restore(): Promise<void> {
    const { context, kept = {} } = this.#turn;
    const records = await context.previousEvents();
    const written = new Set(
      records.flatMap(({ event }) =>
        event.artifactUpdate !== undefined ? [event.artifactUpdate.artifact.artifactId] : [],
      ),
    );
    this.#steps = Number(kept.steps ?? 0);
    this.#files = Number(kept.files ?? 0);
    await this.#answer.restore(kept.response, written);
    await this.#reasoning?.restore(kept.reasoning, written);
    await this.#sources.restore(kept.sources, written);
  }

  get #state(): JsonObject {
    return {
      steps: this.#steps,
      files: this.#files,
      response: this.#answer.text,
      sources: [...this.#sources.parts] as unknown as JsonValue,
      ...(this.#reasoning && { reasoning: this.#reasoning.text }),
    };
  }

  async #beginCall(part: Extract<TextStreamPart<ToolSet>, { readonly type: 'tool-call' }>): Promise<void> {
    await this.#tools.begin(part);
    await this.#release([part.toolCallId]);
  }

  async take(part: TextStreamPart<ToolSet>): Promise<void> {
    switch (part.type) {
      case 'start-step':
        this.#steps += 1;
        return this.#turn.events.working(undefined, { metadata: modelMetadata({ step: this.#steps }) });
      case 'text-start':
        return this.#answer.begin();
      case 'text-delta':
        return this.#answer.add(part.text);
      case 'reasoning-start':
        return this.#reasoning?.begin();
      case 'reasoning-delta':
        return this.#reasoning?.add(part.text);
      case 'tool-call':
        return this.#beginCall(part);
      case 'tool-result':
        return part.preliminary === true ? undefined : this.#tools.end(part, { output: part.output });
      case 'tool-error':
        return this.#tools.end(part, { reason: 'threw' });
      case 'tool-output-denied':
        return this.#tools.end(part, { reason: 'refused' });
      case 'tool-approval-request':
        return this.#tools.request(part);
      case 'file':
        return this.#file(part.file, 'file');
      case 'reasoning-file':
        return this.#reasoning === undefined ? undefined : this.#file(part.file, 'reasoning');
      case 'source':
        return this.#sources.add(sourcePart(part));
      case 'finish':
        this.#finish = { reason: part.finishReason, usage: part.totalUsage };
        return;
      case 'finish-step':
        await this.#counts.countUsage(part.usage);
        this.#turn.checkpoints?.stepEnded(this.#state);
        return;
      // Marks of begin and end, whose content is in other parts.
      case 'start':
      case 'text-end':
      case 'reasoning-end':
      // Partial arguments of a call. Its `tool-call` has all of them.
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      // The answer to an approval that the author's rule decides. The result of the call contains it.
      case 'tool-approval-response':
      // Messages of the application to the model, and data of the provider for the next call.
      case 'steering-message':
      case 'custom':
      case 'raw':
      case 'ping':
      // `modelParts` has thrown these already.
      case 'abort':
      case 'error':
        return;
    }
    // The compiler reports a part without a case. A part of a newer AI SDK is ignored.
    part satisfies never;
  }

  /** Ends the task. */
  async end(): Promise<void> {
    const { events, cutOff, run } = this.#turn;
    const finish = this.#finish;
    const metadata = modelMetadata({
      steps: this.#steps,
      ...(finish && { finishReason: finish.reason, usage: usageOf(finish.usage) }),
    });
    await this.#reasoning?.close();
    await this.#answer.close(metadata);
    if (run !== undefined && run.waiting.length > 0) return;
    const { hasOpenCalls, approvals } = this.#tools;
    if (hasOpenCalls) {
      await events.fail('The model called a tool that the agent does not run.', { metadata });
      return;
    }
    if (approvals.length > 0) {
      await events.inputRequired(approvalQuestion(approvals), { metadata });
      return;
    }
    const { state, message } = endOf(finish?.reason, cutOff);
    await (state === 'completed' ? events.complete(message, { metadata }) : events.fail(message, { metadata }));
  }

  async #file(
    { base64, mediaType }: { readonly base64: string; readonly mediaType: string },
    content: 'file' | 'reasoning',
  ): Promise<void> {
    this.#files += 1;
    const name = `${content === 'file' ? 'file' : 'reasoning-file'}-${this.#files}`;
    const options = { name, lastChunk: true, metadata: contentMetadata(content), ...idMember(this.#idOf(name)) };
    await this.#turn.events.artifact({ raw: base64, mediaType }, options);
  }
}

/** An artifact of one text that grows. */
class TextArtifact {
  readonly #events: EventQueue;
  readonly #name: string;
  readonly #options: { readonly metadata?: JsonObject; readonly artifactId?: string };
  #id: string | undefined;
  /** The text so far, if another attempt may need it. */
  #text = '';
  /** The first half of a surrogate pair whose second half has not arrived. */
  #half = '';
  #isNewBlock = false;

  constructor(events: EventQueue, name: string, { id, content }: ArtifactOptions) {
    this.#events = events;
    this.#name = name;
    this.#options = { ...(content && { metadata: contentMetadata(content) }), ...idMember(id) };
  }

  get text(): string {
    return this.#text;
  }

  /** Continues after a text. Later text of an earlier attempt is removed. */
  async restore(text: JsonValue | undefined, written: ReadonlySet<string>): Promise<void> {
    const { artifactId } = this.#options;
    this.#text = typeof text === 'string' ? text : '';
    if (artifactId === undefined || !written.has(artifactId)) return;
    await this.#events.artifact(this.#text, { name: this.#name, ...this.#options, ...MORE_FOLLOWS });
    if (this.#text !== '') this.#id = artifactId;
  }

  /** Begins a block of text, as a new paragraph after an earlier block. */
  begin(): void {
    this.#isNewBlock = this.#id !== undefined;
  }

  async add(delta: string): Promise<void> {
    if (delta === '') return;
    const joined = this.#half + delta;
    this.#half = /[\uD800-\uDBFF]$/.test(joined) ? joined.slice(-1) : '';
    const text = joined.slice(0, joined.length - this.#half.length).toWellFormed();
    if (text !== '') await this.#write(text);
  }

  /** Publishes the rest of the text, and the metadata. */
  async close(metadata?: JsonObject): Promise<void> {
    if (this.#half !== '') await this.#write(this.#half.toWellFormed());
    this.#half = '';
    if (this.#id === undefined) return;
    await this.#events.append(this.#id, '', { lastChunk: true, ...(metadata && { metadata }) });
  }

  async #write(text: string): Promise<void> {
    const added = this.#id !== undefined && this.#isNewBlock ? `\n\n${text}` : text;
    if (this.#options.artifactId !== undefined) this.#text += added;
    if (this.#id === undefined) {
      this.#id = await this.#events.artifact(added, { name: this.#name, ...this.#options, ...MORE_FOLLOWS });
    } else {
      await this.#events.append(this.#id, added);
    }
    this.#isNewBlock = false;
  }
}

/** The id of an artifact, if it must be known, and its content. */
interface ArtifactOptions {
  readonly id: string | undefined;
  readonly content?: ModelContent;
}

function idMember(artifactId: string | undefined): { readonly artifactId?: string } {
  return artifactId === undefined ? {} : { artifactId };
}

/** An artifact of parts. */
class PartsArtifact {
  readonly #events: EventQueue;
  readonly #content: ModelContent;
  readonly #options: { readonly artifactId?: string };
  #id: string | undefined;
  /** The parts so far, if another attempt may need them. */
  readonly parts: Part[] = [];

  constructor(events: EventQueue, content: ModelContent, id: string | undefined) {
    this.#events = events;
    this.#content = content;
    this.#options = idMember(id);
  }

  async restore(parts: JsonValue | undefined, written: ReadonlySet<string>): Promise<void> {
    const { artifactId } = this.#options;
    if (Array.isArray(parts)) this.parts.push(...parts.filter(isObject).map((part) => part as unknown as Part));
    if (artifactId === undefined || !written.has(artifactId)) return;
    const kept = this.parts.length > 0 ? this.parts : [{ text: '' }];
    await this.#write(kept);
    if (this.parts.length > 0) this.#id = artifactId;
  }

  async add(part: Part): Promise<void> {
    if (this.#options.artifactId !== undefined) this.parts.push(part);
    if (this.#id !== undefined) await this.#events.append(this.#id, part);
    else this.#id = await this.#write([part]);
  }

  #write(parts: readonly Part[]): Promise<string> {
    return this.#events.artifact(parts, {
      name: this.#content,
      metadata: contentMetadata(this.#content),
      ...this.#options,
    });
  }
}

function contentMetadata(content: ModelContent): JsonObject {
  return modelMetadata({ content });
}

/** A url that browsers must not follow becomes data, as do documents without a url. */
function sourcePart(source: Extract<TextStreamPart<ToolSet>, { readonly type: 'source' }>): Part {
  const title = source.title?.toWellFormed();
  const metadata = title === undefined ? {} : { metadata: modelMetadata({ title }) };
  if (source.sourceType === 'url' && /^https?:\/\//i.test(source.url)) {
    return { url: source.url.toWellFormed(), ...metadata };
  }
  const data = shownValue(source.sourceType === 'url' ? { url: source.url, title } : documentOf(source));
  return controlPart({ data });
}

function documentOf({ title, mediaType, filename }: { title: string; mediaType: string; filename?: string }): object {
  return { title, mediaType, filename };
}

function usageOf(usage: LanguageModelUsage): JsonObject {
  const { inputTokens, outputTokens, totalTokens, inputTokenDetails, outputTokenDetails } = usage;
  const counts = {
    inputTokens,
    outputTokens,
    totalTokens,
    cachedInputTokens: inputTokenDetails?.cacheReadTokens,
    reasoningTokens: outputTokenDetails?.reasoningTokens,
  };
  return Object.fromEntries(
    Object.entries(counts).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
}
