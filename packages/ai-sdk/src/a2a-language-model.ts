import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { Artifact, JsonObject, Part } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { isObject } from 'parley-a2a/kit';
import { AgentAnswer, type AnswerPiece, failureOf, saidBy } from './agent-answer.js';
import { agentTurn } from './agent-turn.js';
import { isOfTools, MODEL_OUTPUT_EXTENSION, modelContentOf } from './model-output.js';
import { promptMessage, unsupportedSettings } from './prompt-message.js';

/** An agent as a model of the AI SDK. */
export type A2ALanguageModel = LanguageModelV4;

/** Settings of an agent as a model. */
export interface A2ALanguageModelOptions {
  /** Names the model in the AI SDK. Default: the url of the agent, or the name of its card. */
  readonly modelId?: string;
  /** Longest turn of the agent, in ms. Default 600,000. */
  readonly timeoutMs?: number;
}

/** Provides the client at the first call. */
interface AgentSource {
  readonly modelId: string;
  client(): Promise<Client>;
}

const TIMEOUT_MS = 600_000;
/** Declares that urls of files need not be downloaded, because an agent fetches them itself. */
const ANY_URL = { '*/*': [/^https?:\/\//] };

/**
 * Makes a language model of the AI SDK from an agent. Each call sends one message. `providerOptions.a2a` names the
 * context and the task of the message; the default are those of the last answer in the prompt. An abort cancels the
 * task. A failed task is an error.
 */
export function agentLanguageModel(
  agent: AgentSource,
  { modelId = agent.modelId, timeoutMs = TIMEOUT_MS }: A2ALanguageModelOptions = {},
): A2ALanguageModel {
  const parts = (options: LanguageModelV4CallOptions) => streamParts({ agent, options, modelId, timeoutMs });
  return {
    specificationVersion: 'v4',
    provider: 'a2a',
    modelId,
    supportedUrls: ANY_URL,
    doGenerate: async (options) => generate(parts(options)),
    doStream: async (options) => ({ stream: streamOf(parts(options)) }),
  };
}

interface Call {
  readonly agent: AgentSource;
  readonly options: LanguageModelV4CallOptions;
  readonly modelId: string;
  readonly timeoutMs: number;
}

/** The parts of one answer. A failure ends them with an error part. */
async function* streamParts({ agent, options, modelId, timeoutMs }: Call): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: unsupportedSettings(options) };
  yield { type: 'response-metadata', modelId };
  const { abortSignal: signal } = options;
  try {
    const request = promptMessage(options);
    const answer = new AgentAnswer(request.message.taskId);
    const blocks = new TextBlocks();
    for await (const event of agentTurn(await agent.client(), request, { signal, timeoutMs })) {
      const pieces = answer.take(event);
      // The text of a failed task is the error, not an answer.
      if (failureOf(answer.state) === undefined) for (const piece of pieces) yield* blocks.take(piece);
    }
    const metadata = metadataOf(answer);
    yield* blocks.end(metadata);
    const failure = failureOf(answer.state);
    if (failure !== undefined) throw new Error(saidBy(answer.message) ?? failure);
    yield { type: 'finish', ...finishOf(answer), providerMetadata: metadata };
  } catch (error) {
    if (signal?.aborted) throw error;
    yield { type: 'error', error };
    yield { type: 'finish', finishReason: { unified: 'error', raw: undefined }, usage: usageOf(undefined) };
  }
}

/** A stream that cancels the turn if its reader leaves. */
function streamOf(parts: AsyncGenerator<LanguageModelV4StreamPart>): LanguageModelV4StreamResult['stream'] {
  return new ReadableStream({
    async pull(controller) {
      try {
        const step = await parts.next();
        if (step.done === true) controller.close();
        else controller.enqueue(step.value);
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

async function generate(
  parts: AsyncGenerator<LanguageModelV4StreamPart>,
): Promise<Awaited<ReturnType<LanguageModelV4['doGenerate']>>> {
  const content: LanguageModelV4Content[] = [];
  const blocks = new Map<
    string,
    { type: 'text' | 'reasoning'; text: string; providerMetadata?: SharedV4ProviderMetadata }
  >();
  let start: Extract<LanguageModelV4StreamPart, { readonly type: 'stream-start' }> | undefined;
  let modelId: string | undefined;
  for await (const part of parts) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'stream-start') start = part;
    if (part.type === 'response-metadata') modelId = part.modelId;
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block = { type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const), text: '' };
      blocks.set(part.id, block);
      content.push(block);
    }
    const block = 'id' in part && part.id !== undefined ? blocks.get(part.id) : undefined;
    if (block !== undefined && 'delta' in part) block.text += part.delta;
    if (block !== undefined && part.type === 'text-end' && part.providerMetadata !== undefined) {
      block.providerMetadata = part.providerMetadata;
    }
    if (part.type === 'file' || part.type === 'source') content.push(part);
    if (part.type !== 'finish') continue;
    const { finishReason, usage, providerMetadata } = part;
    return {
      content,
      finishReason,
      usage,
      warnings: start?.warnings ?? [],
      ...(providerMetadata && { providerMetadata }),
      ...(modelId !== undefined && { response: { modelId } }),
    };
  }
  throw new Error('The agent gave no answer');
}

/** Makes text blocks from the pieces of an answer: one for each artifact, and one for the message at the end. */
class TextBlocks {
  #open:
    | { readonly id: string; readonly type: 'text' | 'reasoning'; readonly artifactId: string | undefined }
    | undefined;
  #number = 0;

  *take({ artifact, parts }: AnswerPiece): Generator<LanguageModelV4StreamPart> {
    if (isOfTools(artifact)) return;
    const content = artifact && modelContentOf(artifact);
    for (const part of parts) {
      if (part.text !== undefined || part.data !== undefined) {
        yield* this.#text(part.text !== undefined ? part.text : JSON.stringify(part.data), {
          type: content === 'reasoning' ? 'reasoning' : 'text',
          artifact,
        });
      } else {
        yield* this.#close();
        yield this.#file(part);
      }
    }
  }

  /** Ends the last block. An answer without text gets an empty block, which carries the ids of the task. */
  *end(metadata: SharedV4ProviderMetadata): Generator<LanguageModelV4StreamPart> {
    if (this.#open?.type !== 'text') {
      yield* this.#close();
      this.#number += 1;
      this.#open = { id: String(this.#number), type: 'text', artifactId: undefined };
      yield { type: 'text-start', id: this.#open.id };
    }
    yield* this.#close(metadata);
  }

  *#text(
    delta: string,
    { type, artifact }: { readonly type: 'text' | 'reasoning'; readonly artifact: Artifact | undefined },
  ): Generator<LanguageModelV4StreamPart> {
    if (delta === '') return;
    const artifactId = artifact?.artifactId;
    if (this.#open === undefined || this.#open.artifactId !== artifactId || this.#open.type !== type) {
      yield* this.#close();
      this.#number += 1;
      this.#open = { id: String(this.#number), type, artifactId };
      yield { type: `${type}-start`, id: this.#open.id };
    }
    yield { type: `${type}-delta`, id: this.#open.id, delta };
  }

  *#close(providerMetadata?: SharedV4ProviderMetadata): Generator<LanguageModelV4StreamPart> {
    if (this.#open === undefined) return;
    const { id, type } = this.#open;
    this.#open = undefined;
    yield { type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) };
  }

  /** A url becomes a source, which the AI SDK does not fetch, unlike the url of a file. */
  #file(part: Extract<Part, { readonly raw: string } | { readonly url: string }>): LanguageModelV4StreamPart {
    const { mediaType = 'application/octet-stream', filename } = part;
    if (part.raw !== undefined) return { type: 'file', mediaType, data: { type: 'data', data: part.raw } };
    this.#number += 1;
    const title = filename === undefined ? {} : { title: filename };
    return { type: 'source', sourceType: 'url', id: String(this.#number), url: part.url, ...title };
  }
}

function metadataOf({ taskId, contextId, state }: AgentAnswer): SharedV4ProviderMetadata {
  return {
    a2a: {
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(state !== undefined && { state }),
    },
  };
}

const REASONS = ['stop', 'length', 'content-filter', 'tool-calls', 'other'] as const;

/** The finish reason and the tokens, from the metadata of an agent that uses a model. Other agents have neither. */
function finishOf({ state, metadata }: AgentAnswer): {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
} {
  const marks = metadata?.[MODEL_OUTPUT_EXTENSION];
  const told = isObject(marks) ? (marks as JsonObject) : {};
  const reason = REASONS.find((one) => one === told.finishReason);
  const isEnded = state === undefined || state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_INPUT_REQUIRED';
  return {
    finishReason: { unified: isEnded ? (reason === 'length' ? 'length' : 'stop') : 'other', raw: reason ?? state },
    usage: usageOf(isObject(told.usage) ? (told.usage as JsonObject) : undefined),
  };
}

function usageOf(told: JsonObject | undefined): LanguageModelV4Usage {
  const count = (name: string): number | undefined => {
    const value = told?.[name];
    return typeof value === 'number' && value >= 0 ? value : undefined;
  };
  return {
    inputTokens: {
      total: count('inputTokens'),
      noCache: undefined,
      cacheRead: count('cachedInputTokens'),
      cacheWrite: undefined,
    },
    outputTokens: { total: count('outputTokens'), text: undefined, reasoning: count('reasoningTokens') },
  };
}
