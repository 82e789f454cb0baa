import type { InferUIMessageChunk, UIMessage } from 'ai';
import type { Artifact, JsonValue, Part, StreamResponse, TaskState, TaskStatus } from 'parley-a2a';
import { approvalQuestion, approvalsIn, isObject, isTerminal } from 'parley-a2a/kit';
import { type ToolApproval, type ToolCall, toolCalls, toolEventsOf } from 'parley-a2a/tools';
import { AgentAnswer, type AnswerPiece, failureOf, saidBy } from './agent-answer.js';
import { isOfTools, modelContentOf } from './model-output.js';

/** The place of an answer, in the metadata of its message. */
export interface A2AChatMetadata {
  readonly taskId?: string;
  readonly contextId?: string;
  /** The state of the task at the end of the answer. */
  readonly state?: TaskState;
}

/** An authorization that the user must give on a page. */
export interface A2AChatAuthorization {
  /** An http or https address. Absent if the agent names none. */
  readonly url?: string;
  readonly scopes?: readonly string[];
  readonly expiresAt?: string;
}

/** The data parts of messages, by name: `data-a2a`, `data-authorization` and `data-status`. */
export type A2AChatData = {
  /** A data part of the agent. A data part of a message of the user, of any name, goes to the agent. */
  a2a: JsonValue;
  /** The task is AUTH_REQUIRED. It continues by itself after the user has authorized the agent. */
  authorization: A2AChatAuthorization;
  /** A text of the agent about its work. Transient: only `onData` gets it. */
  status: { readonly state: TaskState; readonly text: string };
};

/** A message of a chat with an agent, for `useChat<A2AChatMessage>`. */
export type A2AChatMessage = UIMessage<A2AChatMetadata, A2AChatData>;

/** A piece of the stream of an answer. */
export type A2AChatChunk = InferUIMessageChunk<A2AChatMessage>;

/** The beginning of an answer. */
export interface AnswerStart {
  /** The id of the message in the chat. */
  readonly messageId: string;
  /** The task that the message of the user continues. */
  readonly continuedTaskId?: string | undefined;
  /** The artifacts of a task before the answer, if the answer is repeated from its beginning. */
  readonly earlier?: readonly Artifact[] | undefined;
  /** Calls of tools that the message has already. */
  readonly callIds?: readonly string[];
}

type CallShown = 'begun' | 'asked' | 'ended';

/** Translates the events of a turn to the stream of a message of the AI SDK. Bad urls and media types are left out. */
export class ChatChunks {
  readonly answer: AgentAnswer;
  readonly #messageId: string;
  readonly #calls: Map<string, CallShown>;
  readonly #known = new Map<string, ToolCall>();
  readonly #said = new Set<string>();
  #open:
    | { readonly id: string; readonly type: 'text' | 'reasoning'; readonly artifactId: string | undefined }
    | undefined;
  #number = 0;
  #isFirst = true;
  #hasAsked = false;

  constructor({ messageId, continuedTaskId, earlier, callIds = [] }: AnswerStart) {
    this.answer = new AgentAnswer(continuedTaskId, earlier);
    this.#messageId = messageId;
    this.#calls = new Map(callIds.map((id) => [id, 'begun']));
    for (const call of toolCalls({ artifacts: earlier ?? [] })) this.#known.set(call.id, call);
  }

  *begin(): Generator<A2AChatChunk> {
    yield { type: 'start', messageId: this.#messageId };
    // Begins a new step, so that answered approvals of the step before are not sent again.
    yield { type: 'start-step' };
  }

  *take(event: StreamResponse): Generator<A2AChatChunk> {
    const { answer } = this;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const pieces = answer.take(event);
    const isBefore = isFirst && event.task !== undefined && event.task.id === answer.continuedTaskId;
    for (const { call } of toolEventsOf(event)) {
      if (isBefore) this.#known.set(call.id, call);
      else yield* this.#call(call);
    }
    // The text of a failed task is the error, not an answer.
    const isFailure = failureOf(answer.state) !== undefined;
    for (const piece of pieces) if (piece.artifact !== undefined || !isFailure) yield* this.#piece(piece);
    const status = event.statusUpdate?.status ?? (isBefore ? undefined : event.task?.status);
    if (status !== undefined) yield* this.#status(status);
  }

  *end(): Generator<A2AChatChunk> {
    yield* this.#close();
    const failure = failureOf(this.answer.state);
    if (failure !== undefined) {
      yield { type: 'error', errorText: saidBy(this.answer.message) ?? failure };
      return;
    }
    const { taskId, contextId, state } = this.answer;
    yield { type: 'finish-step' };
    yield {
      type: 'finish',
      finishReason: this.#hasAsked ? 'tool-calls' : 'stop',
      messageMetadata: {
        ...(taskId !== undefined && { taskId }),
        ...(contextId !== undefined && { contextId }),
        ...(state !== undefined && { state }),
      },
    };
  }

  *#piece({ artifact, parts }: AnswerPiece): Generator<A2AChatChunk> {
    if (artifact !== undefined) {
      if (!isOfTools(artifact)) for (const part of parts) yield* this.#part(part, artifact);
      return;
    }
    // A snapshot after a lost connection repeats the message.
    const { message } = this.answer;
    if (message === undefined || this.#said.has(message.messageId)) return;
    this.#said.add(message.messageId);
    const approvals = approvalsIn(parts);
    for (const part of parts) {
      if (isAuthorization(part) || approvalsIn([part]).length > 0) continue;
      yield* this.#part(approvals.length > 0 ? withoutQuestion(part, approvals) : part, undefined);
    }
  }

  *#status({ state, message }: TaskStatus): Generator<A2AChatChunk> {
    const parts = message?.parts ?? [];
    if (state === 'TASK_STATE_INPUT_REQUIRED') for (const approval of approvalsIn(parts)) yield* this.#ask(approval);
    if (state === 'TASK_STATE_AUTH_REQUIRED') {
      yield* this.#close();
      yield { type: 'data-authorization', id: 'authorization', data: authorizationIn(parts) };
    }
    const text = saidBy(message);
    if (state !== 'TASK_STATE_WORKING' || text === undefined) return;
    yield { type: 'data-status', data: { state, text }, transient: true };
  }

  *#part(part: Part, artifact: Artifact | undefined): Generator<A2AChatChunk> {
    const content = artifact && modelContentOf(artifact);
    const type = content === 'reasoning' ? 'reasoning' : 'text';
    if (part.text !== undefined) {
      yield* this.#text(part.text, type, artifact?.artifactId);
      return;
    }
    yield* this.#close();
    if (part.data !== undefined) {
      yield { type: 'data-a2a', data: part.data };
      return;
    }
    const url = part.raw === undefined ? webUrl(part.url) : `data:${mediaTypeOf(part)};base64,${part.raw}`;
    if (url === undefined) return;
    const title = part.filename === undefined ? {} : { title: part.filename };
    if (content === 'sources') yield { type: 'source-url', sourceId: this.#nextId(), url, ...title };
    else yield { type: content === 'reasoning' ? 'reasoning-file' : 'file', mediaType: mediaTypeOf(part), url };
  }

  *#text(delta: string, type: 'text' | 'reasoning', artifactId: string | undefined): Generator<A2AChatChunk> {
    if (delta === '') return;
    if (this.#open === undefined || this.#open.artifactId !== artifactId || this.#open.type !== type) {
      yield* this.#close();
      this.#open = { id: this.#nextId(), type, artifactId };
      yield { type: `${type}-start`, id: this.#open.id };
    }
    yield { type: `${type}-delta`, id: this.#open.id, delta };
  }

  *#close(): Generator<A2AChatChunk> {
    if (this.#open === undefined) return;
    const { id, type } = this.#open;
    this.#open = undefined;
    yield { type: `${type}-end`, id };
  }

  *#call(change: ToolCall): Generator<A2AChatChunk> {
    const call = { ...this.#known.get(change.id), ...change };
    this.#known.set(call.id, call);
    if (this.#calls.get(call.id) === 'ended') return;
    yield* this.#begin(call);
    const { id: toolCallId, state, output = null, failure } = call;
    if (state === 'succeeded') yield { type: 'tool-output-available', toolCallId, output, dynamic: true };
    else if (state === 'refused') yield { type: 'tool-output-denied', toolCallId };
    else if (state === 'failed' || state === 'canceled')
      yield { type: 'tool-output-error', toolCallId, errorText: failure?.message ?? 'The tool failed.', dynamic: true };
    else return;
    this.#calls.set(toolCallId, 'ended');
  }

  *#begin({ id: toolCallId, tool: toolName, input = null }: Pick<ToolCall, 'id' | 'tool' | 'input'>) {
    if (this.#calls.has(toolCallId)) return;
    yield* this.#close();
    this.#calls.set(toolCallId, 'begun');
    // The agent runs the tool, so the page must not.
    const chunk = { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, providerExecuted: true };
    yield chunk as A2AChatChunk;
  }

  *#ask({ callId, tool, input, reason }: ToolApproval): Generator<A2AChatChunk> {
    yield* this.#begin({ id: callId, tool, input });
    if (this.#calls.get(callId) !== 'begun') return;
    this.#calls.set(callId, 'asked');
    this.#hasAsked = true;
    yield {
      type: 'tool-approval-request',
      approvalId: callId,
      toolCallId: callId,
      ...(reason !== undefined && { reason }),
    };
  }

  #nextId(): string {
    this.#number += 1;
    return String(this.#number);
  }
}

/** The text before the question about calls. The question itself is left out, because the calls show it. */
function withoutQuestion(part: Part, approvals: readonly ToolApproval[]): Part {
  const [question] = approvalQuestion(approvals).parts;
  if (question?.text === undefined || !part.text?.endsWith(question.text)) return part;
  return { text: part.text.slice(0, -question.text.length).trimEnd() };
}

function isAuthorization({ data }: Part): boolean {
  return isObject(data) && isObject(data.authorization);
}

function authorizationIn(parts: readonly Part[]): A2AChatAuthorization {
  const asked = parts.map(({ data }) => (isObject(data) ? data.authorization : undefined)).find(isObject) ?? {};
  const { url, scopes, expiresAt } = asked as Readonly<Record<string, unknown>>;
  const page = typeof url === 'string' ? webUrl(url) : undefined;
  return {
    ...(page !== undefined && { url: page }),
    ...(Array.isArray(scopes) && { scopes: scopes.filter((one) => typeof one === 'string') }),
    ...(typeof expiresAt === 'string' && { expiresAt }),
  };
}

/** A url of a page or a file; undefined for schemes that execute or read something in the page. */
export function webUrl(url: string): string | undefined {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed.href : undefined;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;

function mediaTypeOf({ mediaType = '' }: Part): string {
  return MEDIA_TYPE.test(mediaType) ? mediaType : 'application/octet-stream';
}

/** True if the task continues without a message of its user. */
export function isRunning(state: TaskState): boolean {
  return !isTerminal(state) && state !== 'TASK_STATE_INPUT_REQUIRED';
}
