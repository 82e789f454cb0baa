import type { Tool } from 'ai';
import type { AgentCard, JsonObject, JsonValue, Part, TaskState } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { isTerminal, textOf } from 'parley-a2a/kit';
import { AgentAnswer, saidBy } from './agent-answer.js';
import { agentTurn } from './agent-turn.js';
import { isOfTools, modelContentOf } from './model-output.js';

/** The arguments from a model. */
export interface A2AToolInput {
  readonly message: string;
  /** Structured input, sent as a data part. */
  readonly data?: JsonObject;
  /** The task that the message continues. */
  readonly taskId?: string;
  /** The context of a new task, for an agent with memory. */
  readonly contextId?: string;
}

/** The answer for a model. */
export interface A2AToolOutput {
  /** Absent if the agent answered without a task. INPUT_REQUIRED: call the tool again, with the answer and `taskId`. */
  readonly state?: TaskState;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly text: string;
  readonly data?: readonly JsonValue[];
  readonly files?: readonly A2AToolFile[];
}

/** A file of an agent, without its bytes. */
export interface A2AToolFile {
  readonly filename?: string;
  readonly mediaType?: string;
  readonly url?: string;
}

/** A tool of the AI SDK that calls an agent. */
export type A2ATool = Tool<A2AToolInput, A2AToolOutput>;

/** Settings of a tool that calls an agent. */
export interface A2AToolOptions {
  /**
   * Describes the tool for the model. Default: name, description and skills of the card, about 2,000 characters of
   * them.
   */
  readonly description?: string;
  /** Longest turn of the agent, in ms. Default 600,000. */
  readonly timeoutMs?: number;
  /** Longest text and data of an answer, in characters. The rest is cut off. Default 65,536. */
  readonly maxChars?: number;
}

const TIMEOUT_MS = 600_000;
const MAX_CHARS = 65_536;
const DESCRIPTION_CHARS = 2_000;
/** Number of new characters before a preliminary answer is yielded. Each one has the whole text. */
const SHOWN_AGAIN_CHARS = 512;

const INPUT = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'The request to the agent, in natural language.' },
    data: { type: 'object', description: 'Structured input, if the agent asks for it.' },
    taskId: { type: 'string', description: 'The task of an earlier answer that asks for input.' },
    contextId: { type: 'string', description: 'The context of an earlier answer, for a follow-up.' },
  },
  required: ['message'],
  additionalProperties: false,
} as const;

/**
 * Makes a tool of the AI SDK from an agent. Preliminary answers are yielded while the agent works. An abort cancels the
 * task. A failed task is an answer as well, with its state, so that the model can react.
 * @throws Error if the package `ai` is missing.
 */
export async function agentTool(
  client: Client,
  { description, timeoutMs = TIMEOUT_MS, maxChars = MAX_CHARS }: A2AToolOptions = {},
): Promise<A2ATool> {
  const { jsonSchema, tool } = await import('ai');
  return tool({
    description: description ?? descriptionOf(client.card),
    inputSchema: jsonSchema<A2AToolInput>(structuredClone(INPUT) as never),
    async *execute(input: A2AToolInput, { abortSignal }: { readonly abortSignal?: AbortSignal }) {
      const answer = new AgentAnswer(input.taskId);
      let shown = 0;
      let chars = 0;
      let last: TaskState | undefined;
      for await (const event of agentTurn(client, messageOf(input), { signal: abortSignal, timeoutMs })) {
        for (const { parts } of answer.take(event))
          for (const part of parts) if (part.text !== undefined) chars += part.text.length;
        const isNew = answer.state !== last || chars - shown >= SHOWN_AGAIN_CHARS;
        const isOver = answer.state === undefined || isTerminal(answer.state);
        if (!isNew || isOver) continue;
        last = answer.state;
        shown = chars;
        yield outputOf(answer, maxChars);
      }
      yield outputOf(answer, maxChars);
    },
  }) as A2ATool;
}

/** The description of a card is untrusted, so its length is bounded. */
function descriptionOf({ name, description, skills }: AgentCard): string {
  const lines = [
    `Asks the agent ${name}. ${description}`,
    ...skills.map((skill) => `- ${skill.name}: ${skill.description}`),
  ];
  const text = lines.join('\n');
  return text.length <= DESCRIPTION_CHARS ? text : `${text.slice(0, DESCRIPTION_CHARS).toWellFormed()}…`;
}

function messageOf({ message, data, taskId, contextId }: A2AToolInput) {
  const parts: Part[] = [{ text: message }, ...(data === undefined ? [] : [{ data }])];
  return { message: { parts, ...(taskId && { taskId }), ...(contextId && { contextId }) } };
}

function outputOf(answer: AgentAnswer, maxChars: number): A2AToolOutput {
  // Reasoning and tool calls of an agent are not for the model of another one.
  const artifacts = answer.artifacts.filter((one) => !isOfTools(one) && modelContentOf(one) !== 'reasoning');
  const said = answer.state === undefined || isTerminal(answer.state) || answer.state.endsWith('_REQUIRED');
  const message = said ? answer.message : undefined;
  const texts = [...artifacts.map(textOf), saidBy(message) ?? ''].filter((text) => text !== '');
  const parts = [...artifacts.flatMap((artifact) => artifact.parts), ...(message?.parts ?? [])];
  const files = parts.flatMap((part) => (part.raw !== undefined || part.url !== undefined ? [fileOf(part)] : []));
  const text = cut(texts.join('\n'), maxChars);
  const data = dataOf(parts, maxChars - text.length);
  const { state, taskId, contextId } = answer;
  return {
    ...(state !== undefined && { state }),
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    text,
    ...(data.length > 0 && { data }),
    ...(files.length > 0 && { files }),
  };
}

function dataOf(parts: readonly Part[], maxChars: number): readonly JsonValue[] {
  const found: JsonValue[] = [];
  let left = maxChars;
  for (const part of parts) {
    if (part.data === undefined) continue;
    left -= JSON.stringify(part.data).length;
    if (left < 0) break;
    found.push(part.data);
  }
  return found;
}

function fileOf(part: Extract<Part, { readonly raw: string } | { readonly url: string }>): A2AToolFile {
  const { filename, mediaType } = part;
  return {
    ...(filename !== undefined && { filename }),
    ...(mediaType !== undefined && { mediaType }),
    ...(part.url !== undefined && { url: part.url }),
  };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}… [cut off]`;
}
