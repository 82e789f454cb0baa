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
 * The message of a call: a text, or a message. Ids and references of a message are not sent, because they belong to
 * this task.
 */
export type AgentCallMessage = string | Pick<Message, 'parts' | 'metadata' | 'extensions'>;

/** Options of a call. */
export interface AgentCallOptions {
  /**
   * Maps the events of the callee into this task. Artifacts get new ids, and texts of statuses become updates. If the
   * callee asks for input or authorization, this task does too, and the next call continues the callee's task.
   */
  readonly into?: EventQueue;
  /**
   * Identifies the call within its turn, so that a retry of the turn finds it. Default: the number of the call. Set it
   * if the agent makes concurrent calls, or calls in a different order on a retry.
   */
  readonly key?: string;
  /** Time limit of the call, in ms. Default: the option of the server. The deadline of the turn always applies too. */
  readonly timeoutMs?: number;
  /**
   * The task of the callee that gets the message. Default: the task whose question the message answers, otherwise a new
   * one.
   */
  readonly taskId?: string;
  /** The context of the callee. Default: a new one. */
  readonly contextId?: string;
  /** Tasks of the callee that the message refers to (Spec §3.4.3). */
  readonly referenceTaskIds?: readonly string[];
  /** Metadata of the request, for the callee. */
  readonly metadata?: JsonObject;
}

/**
 * A call of another agent. Awaiting it returns the answer: a message, or a task that has ended or waits for its caller.
 * Iterating it returns the events of the callee as they arrive; after the loop, await it for the answer. Leaving the
 * loop early ends the call, but not the task of the callee.
 */
export interface AgentCall extends PromiseLike<AskResult>, AsyncIterable<StreamResponse> {
  /** The id of the callee's task, once it is known. */
  readonly taskId: string | undefined;
}

/** Sends a message to another agent. */
export type CallAgent = (target: AgentTarget, message: AgentCallMessage, options?: AgentCallOptions) => AgentCall;
