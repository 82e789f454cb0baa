import type { AgentCard } from '../model/agent-card.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { AskResult, StreamResponse } from '../model/stream-response.js';
import type { IN_PROCESS } from '../runtime/in-process.js';
import type { EventQueue } from './event-queue.js';

/** A server object of the same process. */
export interface LocalAgent {
  readonly [IN_PROCESS]: (place: never) => Promise<unknown>;
}

/** The agent to call: the url of the agent or its card, a card, or a server object. */
export type AgentTarget = string | AgentCard | LocalAgent;

/**
 * The message of a call: a text, or a message. The ids and references of a message belong to this task: they are not
 * sent.
 */
export type AgentCallMessage = string | Pick<Message, 'parts' | 'metadata' | 'extensions'>;

/** Options of a call. */
export interface AgentCallOptions {
  /**
   * Maps the events of the callee into this task. Artifacts get ids of their own, texts of statuses become updates. If
   * the callee asks for input or authorization, this task does too, and the next call goes on with the callee's task.
   */
  readonly into?: EventQueue;
  /**
   * Names the call within its turn, so that a turn that runs again finds it. Default: the number of the call. Set it if
   * the agent makes calls at the same time, or may make them in another order when it runs again.
   */
  readonly key?: string;
  /**
   * Longest time of the call, in ms. Default: the option of the server. The deadline of the turn ends the call in any
   * case.
   */
  readonly timeoutMs?: number;
  /** The task of the callee that gets the message. Default: the task whose question it answers, otherwise a new one. */
  readonly taskId?: string;
  /** The context of the callee. Default: a new one. */
  readonly contextId?: string;
  /** Tasks of the callee that the message refers to (Spec §3.4.3). */
  readonly referenceTaskIds?: readonly string[];
  /** Metadata of the request, for the callee. */
  readonly metadata?: JsonObject;
}

/**
 * A call of another agent. Awaited, it gives the answer: a message, or a task that has ended or waits for its caller.
 * Iterated, it gives the events of the callee as they arrive. After the loop, await it for the answer. Leaving the loop
 * ends the call, but not the task of the callee.
 */
export interface AgentCall extends PromiseLike<AskResult>, AsyncIterable<StreamResponse> {
  /** The task of the callee, once the callee has named it. */
  readonly taskId: string | undefined;
}

/** Sends a message to another agent. */
export type CallAgent = (target: AgentTarget, message: AgentCallMessage, options?: AgentCallOptions) => AgentCall;
